from __future__ import annotations

from penstock.config.calculator_pb2 import CalculatorGraphConfig, ExecutorConfig
from penstock_views.describe.option_messages import describe_messages
from penstock_views.describe.proto_comments import comments_of, read_comments

PROTO = """
// The licence of the file.

syntax = "proto2";
package penstock;

// What a thing can do,
// in two lines.
message Thing {
  extend CalculatorOptions {
    optional Thing ext = 7;
  }
  // How it does it.
  enum Manner {
    SLOW = 0;  // one by one
    // All at once.
    FAST = 1;
  }
  optional Manner manner = 1 [default = FAST];  // how

  // Above, after a blank line; "// no comment" is none.
  optional string name = 2
      [default = "// none }"];
  oneof either {
    int32 left = 3;  // the one
    int32 right = 4;
  }
  message Inner { optional int32 deep = 1; }
  // Last.
  repeated Inner inner = 5;
}
// Another.
message Other {}
"""


def test_comments_are_found_above_and_behind_what_they_are_about():
    assert read_comments(PROTO) == {
        "Thing": "What a thing can do, in two lines.",
        "Thing.Manner": "How it does it.",
        "Thing.Manner.SLOW": "one by one",
        "Thing.Manner.FAST": "All at once.",
        "Thing.manner": "how",
        "Thing.name": 'Above, after a blank line; "// no comment" is none.',
        "Thing.left": "the one",
        "Thing.inner": "Last.",
        "Other": "Another.",
    }


def test_a_proto_that_is_not_shipped_has_no_comments():
    assert comments_of("penstock/config/no_such.proto") == {}
    assert comments_of("no_such_package/options.proto") == {}


def test_fields_are_data_with_type_number_default_and_comment():
    message = next(describe_messages(ExecutorConfig))
    fields = {field.name: field for field in message.fields}

    assert (message.name, message.extension) == ("penstock.ExecutorConfig", None)
    assert (fields["name"].number, fields["name"].type, fields["name"].repeated) == (1, "string", False)
    assert fields["options"].type == "penstock.MediaPipeOptions"
    assert fields["options"].default is None


def test_messages_inside_follow_once_also_in_a_circle():
    names = [message.name for message in describe_messages(CalculatorGraphConfig)]

    assert names[0] == "penstock.CalculatorGraphConfig"
    assert "penstock.CalculatorGraphConfig.Node" in names
    assert len(names) == len(set(names))
