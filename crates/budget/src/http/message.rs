//! Requests as they are read, and answers as they are written.

use super::hosts::Hosts;

/// The maximum size of a request in bytes.
pub const MOST_REQUEST: usize = 16 << 10;

/// Header lines of a request at most.
const MOST_HEADERS: usize = 64;

/// The answer to a request for another host.
const MISDIRECTED: &str = "this server is not called so; --allow-host makes a name known\n";

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code and reason, such as `200 OK`.
    pub status: &'static str,
    /// The media type of the body.
    pub kind: &'static str,
    /// The body, as text.
    pub body: String,
    /// The number that marks the scripts of a page that may run, and no others.
    pub nonce: Option<u64>,
}

impl Answer {
    /// Creates an answer of plain text.
    pub fn text(status: &'static str, body: impl Into<String>) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: body.into(), nonce: None }
    }
}

/// A request as far as this server looks at it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Incomplete,
    Get { path: String, head: bool },
    Refused(&'static str, &'static str),
}

pub(super) fn request(bytes: &[u8], known: &Hosts) -> Request {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) if bytes.len() > MOST_REQUEST => {
            Request::Refused("431 Request Header Fields Too Large", "the request is too long\n")
        }
        Ok(httparse::Status::Partial) => Request::Incomplete,
        Ok(httparse::Status::Complete(_)) => {
            let path = request.path.unwrap_or_default();
            let path = path.split_once('?').map_or(path, |(path, _)| path).to_owned();
            let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
            match (hosts.next(), hosts.next(), request.version) {
                (Some(_), Some(_), _) => return Request::Refused("400 Bad Request", "the request names two hosts\n"),
                (None, _, Some(0)) => {}
                (None, ..) => return Request::Refused("400 Bad Request", "the request names no host\n"),
                (Some(host), ..) if str::from_utf8(host.value).is_ok_and(|host| known.has(host)) => {}
                (Some(_), ..) => return Request::Refused("421 Misdirected Request", MISDIRECTED),
            }
            match request.method {
                Some("GET") => Request::Get { path, head: false },
                Some("HEAD") => Request::Get { path, head: true },
                _ => Request::Refused("405 Method Not Allowed", "only GET and HEAD\n"),
            }
        }
        Err(httparse::Error::TooManyHeaders) => {
            Request::Refused("431 Request Header Fields Too Large", "the request has too many headers\n")
        }
        Err(_) => Request::Refused("400 Bad Request", "this is not HTTP/1.1\n"),
    }
}

pub(super) fn message(answer: &Answer, head: bool, more: &str) -> Vec<u8> {
    let Answer { status, kind, body, nonce } = answer;
    let length = body.len();
    // A page has its styles in it, asks this server alone, and has no other parts; everything else is no page.
    let policy = match nonce {
        Some(nonce) => format!(
            "default-src 'none'; script-src 'nonce-{nonce:016x}'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        None => "default-src 'none'; frame-ancestors 'none'".to_owned(),
    };
    let mut text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nX-Content-Type-Options: nosniff\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: {policy}\r\n{more}Connection: close\r\n\r\n"
    );
    if !head {
        text.push_str(body);
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a request to a server that knows `localhost` alone.
    fn request(bytes: &[u8]) -> Request {
        super::request(bytes, &Hosts::default())
    }

    fn get(path: &str, head: bool) -> Request {
        Request::Get { path: path.to_owned(), head }
    }

    #[test]
    fn a_query_is_not_part_of_the_path_and_head_has_no_body() {
        assert_eq!(request(b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"), get("/metrics", false));
        assert_eq!(request(b"HEAD / HTTP/1.0\r\n\r\n"), get("/", true));
        let answer = Answer::text("200 OK", "four");
        let [whole, head] = [false, true].map(|head| String::from_utf8(message(&answer, head, "")).unwrap());
        assert_eq!(whole, format!("{head}four"));
        assert!(head.contains("Content-Length: 4\r\n"));
        for header in ["X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n", "default-src 'none'"] {
            assert!(head.contains(header), "{head}");
        }
    }

    #[test]
    fn other_methods_and_other_languages_are_refused() {
        for (text, status) in [
            (&b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], "405 Method Not Allowed"),
            (b"\x16\x03\x01\x02\x00\x01", "400 Bad Request"),
            (b"GET /\r\n\r\n", "400 Bad Request"),
            (b"GET / HTTP/1.1\r\n\r\n", "400 Bad Request"),
            (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
            (b"GET / HTTP/1.1\r\nHost: attacker.example.com\r\n\r\n", "421 Misdirected Request"),
            (b"GET / HTTP/1.0\r\nhost: attacker.example.com\r\n\r\n", "421 Misdirected Request"),
            (b"POST / HTTP/1.1\r\nHost: \xff\r\n\r\n", "421 Misdirected Request"),
        ] {
            assert!(matches!(request(text), Request::Refused(told, _) if told == status), "{:?}", request(text));
        }
    }

    #[test]
    fn a_flood_of_headers_is_refused_when_it_is_too_long_and_not_before() {
        let mut flood = b"GET / HTTP/1.1\r\n".to_vec();
        flood.extend(b"a: b\r\n".repeat(MOST_HEADERS));
        assert_eq!(request(&flood), Request::Incomplete);
        flood.extend(b"a: b\r\n".repeat(2));
        assert!(matches!(request(&flood), Request::Refused("431 Request Header Fields Too Large", _)));
        let mut long = b"GET / HTTP/1.1\r\na: ".to_vec();
        long.resize(MOST_REQUEST, b'x');
        assert_eq!(request(&long), Request::Incomplete);
        long.push(b'x');
        assert!(matches!(request(&long), Request::Refused("431 Request Header Fields Too Large", _)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = request(&bytes);
        }
    }
}
