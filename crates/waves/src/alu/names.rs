//! Vector operations by name.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    compare, convert, division, dot, float16, float32, float64, integer16, integer32, integer64, kernel::Operation,
};

static BY_NAME: LazyLock<HashMap<&'static str, &'static Operation>> = LazyLock::new(|| {
    let tables = [
        convert::TABLE,
        division::TABLE,
        dot::TABLE,
        float16::TABLE,
        float32::TABLE,
        float64::TABLE,
        integer16::TABLE,
        integer32::TABLE,
        integer64::TABLE,
    ];
    let all = tables.into_iter().chain(compare::TABLES).flatten();
    all.flat_map(|operation| operation.names.iter().map(move |name| (*name, operation))).collect()
});

/// Returns the operation with a name, which may end in `:clamp`, `:directed` or `:carry` for those forms.
pub(crate) fn operation(name: &str) -> Option<&'static Operation> {
    BY_NAME.get(name).copied()
}
