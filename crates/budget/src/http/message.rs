//! Requests as they are read, and answers as they are written.

/// The maximum size of a request in bytes.
pub const MOST_REQUEST: usize = 16 << 10;

/// Header lines of a request at most.
const MOST_HEADERS: usize = 64;

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code and reason, such as `200 OK`.
    pub status: &'static str,
    /// The media type of the body.
    pub kind: &'static str,
    /// The body, as text.
    pub body: String,
}

impl Answer {
    /// Creates an answer of plain text.
    pub fn text(status: &'static str, body: impl Into<String>) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: body.into() }
    }
}

/// A request as far as this server looks at it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Incomplete,
    Get { path: String, head: bool },
    Refused(&'static str, &'static str),
}

pub(super) fn request(bytes: &[u8]) -> Request {
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
    let Answer { status, kind, body } = answer;
    let length = body.len();
    let mut text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}Connection: close\r\n\r\n"
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

    fn get(path: &str, head: bool) -> Request {
        Request::Get { path: path.to_owned(), head }
    }

    #[test]
    fn a_query_is_not_part_of_the_path_and_head_has_no_body() {
        assert_eq!(request(b"GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n"), get("/metrics", false));
        assert_eq!(request(b"HEAD / HTTP/1.0\r\n\r\n"), get("/", true));
        let answer = Answer::text("200 OK", "four");
        let [whole, head] = [false, true].map(|head| String::from_utf8(message(&answer, head, "")).unwrap());
        assert_eq!(whole, format!("{head}four"));
        assert!(head.contains("Content-Length: 4\r\n"));
    }

    #[test]
    fn other_methods_and_other_languages_are_refused() {
        for (text, status) in [
            (&b"POST / HTTP/1.1\r\n\r\n"[..], "405 Method Not Allowed"),
            (b"\x16\x03\x01\x02\x00\x01", "400 Bad Request"),
            (b"GET /\r\n\r\n", "400 Bad Request"),
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
