//! Facts in a list, by section.

use std::fmt;

/// A fact of a GPU under Mesa's name.
///
/// It is displayed as Mesa prints it, without the indentation.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let fields = device.info().radeon_info();
/// let units: Option<&amdgpu_winsys::winsys::RadeonField> = fields.iter().find(|field| field.name == "num_cu");
/// assert_eq!(units.ok_or("no such field")?.to_string(), "num_cu = 60");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RadeonField {
    /// The heading under which Mesa prints it, such as "Memory info".
    pub section: &'static str,
    /// The name of the field, such as `num_cu`.
    pub name: String,
    /// The value with its unit, as Mesa prints it.
    pub value: String,
}

impl fmt::Display for RadeonField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

/// The fields of a section as they come.
pub(super) struct List<'l> {
    pub(super) section: &'static str,
    pub(super) all: &'l mut Vec<RadeonField>,
}

impl List<'_> {
    #[expect(clippy::needless_pass_by_value, reason = "numbers, and the arguments of a format")]
    pub(super) fn add(&mut self, name: impl Into<String>, value: impl ToString) {
        self.all.push(RadeonField { section: self.section, name: name.into(), value: value.to_string() });
    }

    /// Adds a field that is 1 or 0.
    pub(super) fn flag(&mut self, name: &str, is_set: bool) {
        self.add(name, u8::from(is_set));
    }
}
