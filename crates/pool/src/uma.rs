//! The carve-out that an APU's firmware is told to make, which Linux 7.0 and later can read and set.
//!
//! Source: Linux 7.2 `amdgpu_acpi.c`, `uma/carveout` and `uma/carveout_options`: a line for each option, `<index>: <name> (<n> GB)`, or
//! `(<n> MB)` below 1 GiB, whose name may be empty. An index that is written takes effect at the next boot.

use crate::files::Files;

/// A choice of carve-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarveOut {
    /// The number that is written to choose it.
    pub index: u32,
    /// The name that the firmware gives it; may be empty.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// The choices of a GPU, and the one that is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarveOuts {
    /// The choices, in the kernel's order.
    pub options: Vec<CarveOut>,
    /// The index for the next boot; `None` if it cannot be read.
    pub chosen: Option<u32>,
}

impl CarveOuts {
    /// Returns the smallest choice of at least so many bytes.
    pub fn at_least(&self, bytes: u64) -> Option<&CarveOut> {
        self.options.iter().filter(|option| option.bytes >= bytes).min_by_key(|option| option.bytes)
    }

    /// Returns the choice with the fewest bytes.
    pub fn smallest(&self) -> Option<&CarveOut> {
        self.options.iter().min_by_key(|option| option.bytes)
    }

    /// Returns the choice that is in effect at the next boot.
    pub fn next(&self) -> Option<&CarveOut> {
        self.options.iter().find(|option| Some(option.index) == self.chosen)
    }
}

/// Reads the choices of the GPU whose render node has this name, such as `renderD128`; `None` if the kernel or the firmware offers
/// none.
pub fn carve_outs(files: &dyn Files, node: &str) -> Option<CarveOuts> {
    let directory = format!("sys/class/drm/{node}/device/uma");
    let text = files.read(&format!("{directory}/carveout_options")).ok()?;
    let options: Vec<CarveOut> = text.lines().filter_map(option).collect();
    let chosen = files.read(&format!("{directory}/carveout")).ok().and_then(|text| text.trim().parse().ok());
    (!options.is_empty()).then_some(CarveOuts { options, chosen })
}

fn option(line: &str) -> Option<CarveOut> {
    let (index, rest) = line.split_once(':')?;
    let (name, size) = rest.rsplit_once('(')?;
    let (number, unit) = size.trim().strip_suffix(')')?.split_once(' ')?;
    let shift = match unit {
        "GB" => 30,
        "MB" => 20,
        _ => return None,
    };
    let number: u64 = number.parse().ok().filter(|&number| number <= 1 << 20)?;
    Some(CarveOut { index: index.trim().parse().ok()?, name: name.trim().to_owned(), bytes: number << shift })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    #[test]
    fn options_have_an_index_a_name_and_a_size() {
        let mut files = Memory::default();
        let uma = "sys/class/drm/renderD128/device/uma";
        files.put(
            format!("{uma}/carveout_options"),
            "0: Minimum (512 MB)\n1:  (1 GB)\nnonsense\n2: High (big) (96 GB)\n3: Odd (1 TB)\n",
        );
        files.put(format!("{uma}/carveout"), "2\n");
        let found = carve_outs(&files, "renderD128").unwrap();
        let sizes: Vec<_> = found.options.iter().map(|one| (one.index, one.name.as_str(), one.bytes)).collect();
        assert_eq!(sizes, [(0, "Minimum", 512 << 20), (1, "", 1 << 30), (2, "High (big)", 96 << 30)]);
        assert_eq!(found.next().map(|option| option.bytes), Some(96 << 30));
        assert_eq!(found.at_least(2 << 30).map(|option| option.index), Some(2));
        assert_eq!((found.at_least(97 << 30), found.smallest().map(|option| option.index)), (None, Some(0)));
        assert_eq!(carve_outs(&files, "renderD129"), None);
    }
}
