//! The server's sockets: paths, those of a service manager, and several at once.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::{
        fd::OwnedFd,
        unix::{
            fs::FileTypeExt as _,
            net::{UnixListener, UnixStream},
        },
    },
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::{
    SIM,
    support::{Directory, command, run},
};

/// Starts a server and waits until it has printed that many addresses.
fn serve(mut command: Command, addresses: usize) -> (Child, Vec<String>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines.take(addresses).map(Result::unwrap).collect())
}

fn get(mut stream: impl std::io::Read + std::io::Write) -> String {
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn is_served(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("amdgpu_info{")
}

fn listen_on(path: &str, requests: &str) -> Command {
    command(&[&SIM[..], &["serve", "--listen", &format!("unix:{path}"), "--requests", requests]].concat())
}

#[test]
fn a_unix_socket_is_served_and_goes_away_with_its_server() {
    let directory = Directory::new();
    let path = directory.join("socket");
    let (mut child, addresses) = serve(listen_on(&path, "1"), 1);
    assert_eq!(addresses, [format!("unix:{path}")]);
    assert!(is_served(&get(UnixStream::connect(&path).unwrap())));
    assert!(child.wait().unwrap().success());
    assert!(!Path::new(&path).exists());
}

#[test]
fn a_socket_of_a_killed_server_is_replaced_and_nothing_else_is() {
    let directory = Directory::new();
    let path = directory.join("socket");
    drop(UnixListener::bind(&path).unwrap());
    let (mut child, _) = serve(listen_on(&path, "1"), 1);
    let second = listen_on(&path, "1").output().unwrap();
    assert_eq!(second.status.code(), Some(1), "a server listens already");
    assert!(String::from_utf8_lossy(&second.stderr).contains(&format!("cannot listen on unix:{path}")));
    assert!(is_served(&get(UnixStream::connect(&path).unwrap())));
    assert!(child.wait().unwrap().success());

    fs::write(&path, "precious").unwrap();
    assert_eq!(listen_on(&path, "1").output().unwrap().status.code(), Some(1));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

/// Limits hold for all sockets together.
#[test]
fn silent_clients_of_a_unix_socket_are_dropped_and_hold_up_no_scrape_on_another_socket() {
    let directory = Directory::new();
    let path = directory.join("socket");
    let unix = format!("unix:{path}");
    let options = ["serve", "--listen", &unix, "--listen", "127.0.0.1:0", "--requests", "1"];
    let (mut child, addresses) = serve(command(&[&SIM[..], &options].concat()), 2);
    let address = addresses[1].strip_prefix("http://").unwrap().strip_suffix('/').unwrap();
    let mut silent: Vec<_> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
    for stream in silent.iter_mut().skip(50) {
        stream.write_all(b"GET /met").unwrap();
    }
    assert!(matches!(silent[0].read(&mut [0; 64]), Ok(0) | Err(_)), "dropped before any request was answered");
    assert!(is_served(&get(TcpStream::connect(address).unwrap())));
    assert!(child.wait().unwrap().success());
}

/// The program with these sockets as `LISTEN_FDS`, as systemd starts it.
fn activated(first: OwnedFd, second: OwnedFd) -> Command {
    let mut shell = Command::new("sh");
    let script = "exec 3<&0 4<&2 0</dev/null 2>/dev/null; LISTEN_PID=$$ LISTEN_FDS=2 exec \"$0\" \"$@\"";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_amdgpu-budget")]).args(SIM).args(["serve", "--requests", "2"]);
    shell.stdin(Stdio::from(first)).stderr(Stdio::from(second));
    shell
}

#[test]
fn sockets_of_a_service_manager_are_served_instead_of_the_default_port() {
    let directory = Directory::new();
    let path = directory.join("socket");
    let unix = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let (mut child, addresses) = serve(activated(tcp.into(), unix.into()), 2);
    assert_eq!(addresses, [format!("http://{address}/"), format!("unix:{path}")]);
    assert!(is_served(&get(TcpStream::connect(address).unwrap())));
    assert!(is_served(&get(UnixStream::connect(&path).unwrap())));
    assert!(child.wait().unwrap().success());
    let kind = fs::symlink_metadata(&path).unwrap().file_type();
    assert!(kind.is_socket(), "the service manager keeps its socket for the next start");
}

#[test]
fn descriptors_that_do_not_listen_are_refused() {
    let directory = Directory::new();
    let file = || OwnedFd::from(fs::File::create(directory.join("file")).unwrap());
    let (connected, _peer) = UnixStream::pair().unwrap();
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    for wrong in [file(), connected.into()] {
        let status = activated(listening.try_clone().unwrap().into(), wrong).status().unwrap();
        assert_eq!(status.code(), Some(1));
    }
}

#[test]
fn an_address_of_neither_kind_is_refused_with_the_kinds_there_are() {
    for wrong in ["localhost:9417", "9417", "unix:", "/run/socket"] {
        let output = run(&["--sim", "navi21", "serve", "--listen", wrong]);
        assert_eq!(output.code, 64, "{wrong}");
        assert!(output.stderr.contains("unix:"), "{}", output.stderr);
    }
}
