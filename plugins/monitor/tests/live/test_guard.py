"""Who may read, and who may not."""

from __future__ import annotations

import re

import pytest

from penstock_live.listening import Address

PATHS = ("/", "/graph.svg", "/reading", "/events", "/thumbnails?stream=in", "/nothing")


@pytest.fixture(scope="module")
def client(hand):
    """Return requests to one server for all tests here: none of them changes it."""
    with hand.serve(hand.Monitor()) as server:
        yield hand.Client(server.url)


def test_with_the_token_every_path_answers(client):
    assert client.request("/")[0] == 200
    assert client.request("/reading")[0] == 200
    assert client.request("/graph.svg")[0] == 200
    assert client.request("/thumbnails?stream=in")[0] == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("given", ["", "wrong", "%C3%A4"])
def test_without_the_token_every_path_is_forbidden(client, path, given):
    status, _, body = client.request(path, given=given)
    assert status == 403
    assert body.decode().startswith("the token is missing or wrong; open the whole address that the server")


def test_a_token_that_is_nearly_right_is_wrong(client):
    assert client.request("/reading", given=client.token[:-1])[0] == 403
    assert client.request("/reading", given=f"{client.token}x")[0] == 403
    assert client.request(f"/reading?token={client.token}")[0] == 403  # two tokens


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "10.0.0.7"]
)
def test_a_request_for_a_foreign_host_is_forbidden(client, path, host):
    status, _, body = client.request(path, host=host)
    # an empty or broken Host may be refused before the application sees it
    assert status in {400, 403}
    if status == 403:
        assert body.decode().startswith(f"the request is for host {host!r}, but this server answers only for")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:9000", "127.0.0.1:1", "[::1]:80"])
def test_this_machine_has_several_names_and_a_tunnel_has_another_port(client, host):
    assert client.request("/reading", host=host)[0] == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", "https://{host}", ""]
)
def test_a_request_of_a_foreign_page_is_forbidden(client, path, origin):
    status, _, body = client.request(path, Origin=origin.format(host=client.url.netloc))
    assert status == 403
    assert "answers only its own" in body.decode()


def test_a_request_of_its_own_page_is_answered(client):
    assert client.request("/reading", Origin=f"http://{client.url.netloc}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_allowed(client, method):
    status, headers, body = client.request("/reading", method=method)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    assert body.decode() == f"{method} is not answered: this server is read only\n"


def test_without_the_token_other_methods_are_forbidden_too(client):
    assert client.request("/reading", method="POST", given="wrong")[0] == 403


@pytest.mark.parametrize("path", PATHS[:-1])
def test_head_answers_without_a_body(client, path):
    status, _, body = client.request(path, method="HEAD")
    assert (status, body) == (200, b"")


@pytest.mark.parametrize(
    ("path", "given"), [("/", None), ("/reading", None), ("/reading", "wrong"), ("/nothing", None)]
)
def test_every_answer_is_kept_by_nobody_and_tells_its_address_to_nobody(client, path, given):
    _, headers, _ = client.request(path, given=given)
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers
    assert headers["content-security-policy"].startswith("default-src 'none'; ")


def test_the_page_runs_only_its_own_script_and_loads_nothing(client):
    _, headers, body = client.request("/")
    policy = headers["content-security-policy"]
    (nonce,) = set(re.findall(r"nonce-([^']+)", policy))
    assert "unsafe" not in policy
    assert policy.count("'nonce-") == 2
    page = body.decode()
    markup, script = page.split(f'<script nonce="{nonce}">')
    assert re.findall(r"<(?:script|style|link)[^>]*>", markup) == [
        '<link rel="icon" href="data:,">',
        f'<style nonce="{nonce}">',
    ]
    assert script.count("</script>") == 1
    assert not re.search(r"\son\w+=", page)
    # the namespace of SVG is a name, and is not loaded
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert client.request("/")[1]["content-security-policy"] != policy


def test_an_unknown_path_says_which_there_are(client):
    status, _, body = client.request("/nothing")
    assert status == 404
    assert body.decode() == (
        "there is no page '/nothing'; there are /, /graph.svg, /reading, /events, /minute, /node, "
        "/thumbnails\n"
    )


def test_a_server_makes_a_token_of_its_own(hand, monitor):
    with hand.serve(monitor) as first, hand.serve(monitor) as second:
        tokens = {hand.Client(server.url).token for server in (first, second)}
        assert len(tokens) == 2
        assert all(len(token) == 32 for token in tokens)


@pytest.mark.parametrize(
    ("host", "reached", "names"),
    [
        ("127.0.0.1", "127.0.0.1", {"127.0.0.1", "localhost", "::1"}),
        ("192.168.1.5", "192.168.1.5", {"192.168.1.5"}),
        ("Robot.local", "192.168.1.5", {"robot.local", "192.168.1.5"}),
    ],
)
def test_a_server_answers_for_where_it_listens(host, reached, names):
    assert Address(host, 8000).names(reached) == names


def test_a_server_on_all_addresses_answers_for_the_one_that_was_reached_and_the_machines_name(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Robot")
    address = Address("0.0.0.0", 8000, is_tls=True)  # noqa: S104  # what is tested
    assert address.names("10.0.0.7") == {"0.0.0.0", "10.0.0.7", "robot"}  # noqa: S104
    assert address.origin == "https://Robot:8000"
