"""The picture of a graph file for many viewers: the newest one first, and a marked node."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from penstock.errors import InvalidArgumentError
from penstock_live import picture_site
from penstock_live.api import PictureSite, listen


def event(answer):
    name = answer.readline().decode().rstrip("\n")
    if name.startswith(":"):
        answer.readline()
        return name, None
    data = answer.readline().decode().partition("data: ")[2]
    answer.readline()
    return name.partition("event: ")[2], json.loads(data)


def test_a_viewer_gets_the_newest_picture_then_each_change(site_of, viewer):
    with site_of(PictureSite) as site:
        site.show("<svg>1</svg>", ["a fault"])
        site.mark("one")
        with viewer(site) as answer:
            assert event(answer) == ("picture", {"svg": "<svg>1</svg>", "notes": ["a fault"]})
            assert event(answer) == ("mark", {"node": "one"})
            site.mark("two")
            assert event(answer) == ("mark", {"node": "two"})
            site.show("", ["broken"])
            assert event(answer) == ("picture", {"svg": "<svg>1</svg>", "notes": ["broken"]})
            site.show("<svg>2</svg>")
            assert event(answer) == ("picture", {"svg": "<svg>2</svg>", "notes": []})


def test_closing_the_site_tells_the_viewers(site_of, viewer):
    with site_of(PictureSite) as site, viewer(site) as answer:
        assert event(answer)[0] == "picture"
        site.close()
        assert event(answer) == ("end", {})
        assert answer.read() == b""


def test_an_idle_viewer_gets_a_comment(site_of, viewer, monkeypatch):
    monkeypatch.setattr(picture_site, "HEARTBEAT_S", 0.05)
    with site_of(PictureSite) as site, viewer(site) as answer:
        assert event(answer)[0] == "picture"
        assert event(answer) == (": still here", None)


def test_more_viewers_than_allowed_are_refused(site_of, viewer):
    with site_of(PictureSite, most_viewers=1) as site, viewer(site) as answer:
        assert event(answer)[0] == "picture"
        with viewer(site) as other:
            assert other.status == 503
            assert b"1 viewers look at this picture" in other.read()


def test_the_page_has_a_policy_and_its_title_is_escaped(site_of, viewer):
    with site_of(PictureSite) as site, viewer(site, "") as answer:
        text = answer.read().decode()
        policy = answer.headers["content-security-policy"]

    assert "<h1>a &lt;b&gt; &amp; c</h1>" in text
    nonce = policy.partition("script-src 'nonce-")[2].partition("'")[0]
    assert text.count(f'nonce="{nonce}"') == 2
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("path", "asked", "status"),
    [
        ("events", {"query": ""}, 403),
        ("", {"query": "token=x"}, 403),
        ("x", {}, 404),
        ("events", {"method": "POST"}, 405),
    ],
)
def test_what_is_refused(site_of, viewer, path, asked, status):
    with site_of(PictureSite) as site, viewer(site, path, **asked) as answer:
        assert answer.status == status


def test_a_token_that_could_be_guessed_is_refused():
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    with listening, pytest.raises(InvalidArgumentError, match="a web token of 3 characters"):
        PictureSite(listening, address, title="x", token="abc")  # noqa: S106  # one that is refused


def test_a_click_tells_which_node_and_only_by_a_post_with_the_token(site_of, viewer):
    chosen = []
    with site_of(PictureSite, on_choice=chosen.append) as site:
        token = urlsplit(site.url).query
        answers = []
        for method, query in (
            ("GET", f"{token}&node=a"),
            ("HEAD", f"{token}&node=b"),
            ("POST", "node=c"),
            ("POST", f"{token}&node=d%20%26"),
        ):
            with viewer(site, "choice", method=method, query=query) as answer:
                answers.append(answer.status)
        with viewer(site, "choice", method="POST", Origin="http://evil.example") as answer:
            answers.append(answer.status)
        with viewer(site, "") as answer:
            assert b"const leads = true;" in answer.read()

    assert answers == [405, 405, 403, 204, 403]
    assert chosen == ["d &"]


def test_where_clicks_lead_nowhere_they_are_refused(site_of, viewer):
    with site_of(PictureSite) as site:
        with viewer(site, "choice", method="POST") as answer:
            assert answer.status == 405
        with viewer(site, "") as answer:
            assert b"const leads = false;" in answer.read()
