//! Tables of functions by name.

use ash::vk;

use crate::border::adapter::Function;

/// Pairs each function with its name, which is the name of its type without `PFN_`.
macro_rules! entries {
    ($($pfn:ident: $arity:ident($entry:path);)*) => {
        &[$((stringify!($pfn).split_at("PFN_".len()).1, $arity($entry, None::<vk::$pfn>)),)*]
    };
}

pub(super) use entries;

/// Finds a function in one of the tables.
pub(super) fn find_in(table: &[(&str, Function)], name: &str) -> vk::PFN_vkVoidFunction {
    let index = table.binary_search_by_key(&name, |(name, _)| name).ok()?;
    table.get(index).map(|(_, entry)| *entry)
}
