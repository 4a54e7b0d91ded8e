"""The picture of a graph file for many viewers: the newest one first, and a marked node."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from penstock.errors import InvalidArgumentError
from penstock_live import picture_site
from penstock_live.api import PictureSite, listen

PATIENCE_S = 10.0


@contextmanager
def site_of(**given):
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    made = PictureSite(listening, address, title="a <b> & c", **given)
    try:
        yield made
    finally:
        made.close()
        made.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("penstock-picture-site")]


@contextmanager
def viewer(site, path="events", *, method="GET", query=None):
    url = urlsplit(site.url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE_S)
    connection.request(method, f"/{path}?{url.query if query is None else query}")
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


def event(answer):
    name = answer.readline().decode().rstrip("\n")
    if name.startswith(":"):
        answer.readline()
        return name, None
    data = answer.readline().decode().partition("data: ")[2]
    answer.readline()
    return name.partition("event: ")[2], json.loads(data)


def test_a_viewer_gets_the_newest_picture_then_each_change():
    with site_of() as site:
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


def test_closing_the_site_tells_the_viewers():
    with site_of() as site, viewer(site) as answer:
        assert event(answer)[0] == "picture"
        site.close()
        assert event(answer) == ("end", {})
        assert answer.read() == b""


def test_an_idle_viewer_gets_a_comment(monkeypatch):
    monkeypatch.setattr(picture_site, "HEARTBEAT_S", 0.05)
    with site_of() as site, viewer(site) as answer:
        assert event(answer)[0] == "picture"
        assert event(answer) == (": still here", None)


def test_more_viewers_than_allowed_are_refused():
    with site_of(most_viewers=1) as site, viewer(site) as answer:
        assert event(answer)[0] == "picture"
        with viewer(site) as other:
            assert other.status == 503
            assert b"1 viewers look at this picture" in other.read()


def test_the_page_has_a_policy_and_its_title_is_escaped():
    with site_of() as site, viewer(site, "") as answer:
        text = answer.read().decode()
        policy = answer.headers["content-security-policy"]

    assert "<h1>a &lt;b&gt; &amp; c</h1>" in text
    nonce = policy.partition("script-src 'nonce-")[2].partition("'")[0]
    assert text.count(f'nonce="{nonce}"') == 2
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("path", "query", "method", "status"),
    [
        ("events", "", "GET", 403),
        ("", "token=x", "GET", 403),
        ("x", None, "GET", 404),
        ("events", None, "POST", 405),
    ],
)
def test_what_is_refused(path, query, method, status):
    with site_of() as site, viewer(site, path, query=query, method=method) as answer:
        assert answer.status == status


def test_a_token_that_could_be_guessed_is_refused():
    listening, address = listen("127.0.0.1", 0, is_tls=False)
    with listening, pytest.raises(InvalidArgumentError, match="a token of 3 characters"):
        PictureSite(listening, address, title="x", token="abc")  # noqa: S106  # one that is refused
