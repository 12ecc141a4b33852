//! The hosts that requests may name.
//!
//! A page of somebody else may have a name that leads to this machine (DNS rebinding): the browser then lets it read what the server
//! answers. Such a request has the foreign name as its host, so that only known hosts are answered.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
};

use super::listener::{Address, Listener};

/// The hosts that requests may name: `localhost`, the IP addresses of the sockets, and names that the user gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    addresses: Vec<IpAddr>,
    names: Vec<String>,
}

impl Hosts {
    /// Creates the hosts of some sockets, and further names.
    ///
    /// # Errors
    ///
    /// The error of `getsockname`.
    pub fn new(listeners: &[Listener], names: &[String]) -> io::Result<Self> {
        let mut addresses = Vec::new();
        for listener in listeners {
            addresses.push(match listener.address()? {
                Address::Tcp(address) => address.ip().to_canonical(),
                // Programs that use a Unix socket say that they mean this machine.
                Address::Unix(_) => Ipv4Addr::LOCALHOST.into(),
            });
        }
        let names = names.iter().map(|name| name_of(name).to_ascii_lowercase()).collect();
        Ok(Self { addresses, names })
    }

    /// Returns `true` if a request with this Host header is for this server. The port does not matter: it may be forwarded.
    pub fn has(&self, host: &str) -> bool {
        let name = name_of(host).to_ascii_lowercase();
        let literal = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&name);
        match literal.parse::<IpAddr>() {
            Ok(address) => self.has_address(address.to_canonical()),
            Err(_) => name == "localhost" || self.names.contains(&name),
        }
    }

    fn has_address(&self, address: IpAddr) -> bool {
        // A name cannot lead to another address than the one that was typed, so that a socket for all addresses takes any.
        let is_of =
            |own: &IpAddr| own.is_unspecified() || *own == address || own.is_loopback() && address.is_loopback();
        self.addresses.iter().any(is_of)
    }
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    let host = host.trim();
    let end = if host.starts_with('[') { host.find(']').map(|at| at + 1) } else { host.rfind(':') };
    let name = end.and_then(|end| host.get(..end)).unwrap_or(host);
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(address: &str) -> Hosts {
        Hosts { addresses: vec![address.parse().unwrap()], names: vec!["gpu.example".to_owned()] }
    }

    #[test]
    fn only_hosts_of_the_server_are_known() {
        for (host, expected) in [
            ("127.0.0.1:9417", true),
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("[::1]:9417", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("localhost:9417", true),
            ("LocalHost", true),
            ("localhost.", true),
            ("GPU.example:80", true),
            ("192.168.1.2:9417", false),
            ("attacker.example.com", false),
            ("attacker.example.com:9417", false),
            ("localhost.attacker.example", false),
            ("127.0.0.1.attacker.example", false),
            ("gpu.example.attacker.example", false),
            ("xlocalhost", false),
            ("", false),
            ("[::1", false),
            ("2130706433", false),
        ] {
            assert_eq!(hosts("127.0.0.1").has(host), expected, "{host:?}");
        }
        assert!(hosts("0.0.0.0").has("192.168.1.2:9417") && !hosts("0.0.0.0").has("attacker.example.com"));
        assert!(hosts("192.168.1.2").has("192.168.1.2") && !hosts("192.168.1.2").has("192.168.1.3"));
    }
}
