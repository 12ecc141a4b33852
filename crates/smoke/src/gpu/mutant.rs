//! Simulated GPUs with a deliberate mistake, by their names on the command line.

use std::{fmt, str::FromStr};

use amdgpu_sim::{Mutation, SimDevice};
use amdgpu_winsys::winsys::Ip;

/// A deliberate mistake of a simulated GPU, on all its rings or on the rings of one IP. The text form is `drop-write` or
/// `short-copy:sdma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The kind of mistake.
    pub mutation: Mutation,
    /// The IP whose rings have the mistake; `None` for the whole device.
    pub ip: Option<Ip>,
}

/// The error of a name that is not a mistake of the simulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no mutation is called {0:?}; there is {known}", known = known())]
pub struct UnknownMutant(String);

const IPS: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];

impl Mutant {
    /// Returns all mutants: a mistake of rings once for each IP that can have it, and any other mistake once.
    pub fn all() -> impl Iterator<Item = Self> {
        Mutation::ALL.into_iter().flat_map(|mutation| {
            let ips: &[Ip] = match mutation {
                _ if mutation.is_of_a_shader() => &[Ip::Gfx, Ip::Compute],
                _ if mutation.is_of_a_ring() => &IPS,
                _ => &[],
            };
            let whole = Self { mutation, ip: None };
            // A ring's mistake on all rings is the three together: nothing more is learnt of it.
            let whole = (!mutation.is_of_a_ring()).then_some(whole);
            whole.into_iter().chain(ips.iter().map(move |&ip| Self { mutation, ip: Some(ip) }))
        })
    }

    pub(crate) fn enter(self, device: &SimDevice) {
        match self.ip {
            None => device.mutate(Some(self.mutation)),
            Some(ip) => device.mutate_rings(ip, self.mutation),
        }
    }
}

/// `DropWrite` as `drop-write`.
fn name(mutation: Mutation) -> String {
    let mut name = String::new();
    for letter in format!("{mutation:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn known() -> String {
    Mutation::ALL.map(name).join(", ")
}

impl FromStr for Mutant {
    type Err = UnknownMutant;

    fn from_str(text: &str) -> Result<Self, UnknownMutant> {
        let unknown = || UnknownMutant(text.to_owned());
        let (wanted, ip) = match text.split_once(':') {
            Some((wanted, ip)) => {
                let known = IPS.into_iter().find(|known| known.name().eq_ignore_ascii_case(ip));
                (wanted, Some(known.ok_or_else(unknown)?))
            }
            None => (text, None),
        };
        let mutation = Mutation::ALL.into_iter().find(|mutation| name(*mutation) == wanted).ok_or_else(unknown)?;
        Ok(Self { mutation, ip })
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ip {
            None => f.pad(&name(self.mutation)),
            Some(ip) => f.pad(&format!("{}:{}", name(self.mutation), ip.name().to_ascii_lowercase())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_is_found_by_its_name() {
        let mut count = 0;
        for mutant in Mutant::all() {
            assert_eq!(mutant.to_string().parse(), Ok(mutant));
            count += 1;
        }
        assert!(count > Mutation::ALL.len());
    }

    #[test]
    fn the_refusal_of_an_unknown_one_lists_those_that_exist() {
        for wrong in ["", "drop", "drop-write:vcn", "DropWrite"] {
            let error = wrong.parse::<Mutant>().unwrap_err().to_string();
            assert!(error.contains("drop-write, short-copy"), "{error}");
        }
    }
}
