//! Vector operations by name.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    compare, convert,
    float::{division, double, half, single},
    integer::{dot, narrow, wide, word},
    kernel::Operation,
};

static BY_NAME: LazyLock<HashMap<&'static str, &'static Operation>> = LazyLock::new(|| {
    operations().flat_map(|operation| operation.names.iter().map(move |name| (*name, operation))).collect()
});

/// Returns every operation.
pub(crate) fn operations() -> impl Iterator<Item = &'static Operation> {
    let tables = [
        convert::TABLE,
        division::TABLE,
        dot::TABLE,
        half::TABLE,
        single::TABLE,
        double::TABLE,
        narrow::TABLE,
        word::TABLE,
        wide::TABLE,
    ];
    tables.into_iter().chain(compare::TABLES).flatten()
}

/// Returns the operation with a name, which may end in `:clamp`, `:directed` or `:carry` for those forms.
pub(crate) fn operation(name: &str) -> Option<&'static Operation> {
    BY_NAME.get(name).copied()
}
