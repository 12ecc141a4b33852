//! The rows of `amdgpu-bench ioctl-cost`: existing rows, on a null kernel whose requests take time.
//!
//! A null kernel answers at once, so its rows compare user space alone and show differences that no user notices. Here AMDGPU_CS takes
//! 2 us, GEM_VA 1 us and GEM_CREATE 3 us, for all drivers (`amdgpu_sim::RequestCosts`).

use crate::{
    child::{Wanted, on_the_null_kernel},
    icd, radv,
    row::Row,
};

/// The rows that are measured again: the area, and what their names start with.
const AGAIN: [(&str, &str); 6] = [
    ("memory", "allocate-"),
    ("cs", "submit-"),
    ("icd", "icd-allocate"),
    ("icd", "icd-submit"),
    ("radv", "radv-allocate"),
    ("radv", "radv-submit"),
];

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    for (area, start) in AGAIN {
        let again = Wanted { only: Some(start.into()), has_costs: true };
        let mut add = |row: Row| {
            let row = row.with_costs();
            if wanted.has(&row.bench) {
                add(row);
            }
        };
        match area {
            "icd" => icd::all(&again, &mut add),
            "radv" => radv::all(&again, &mut add),
            _ => on_the_null_kernel(area, &again, &mut add),
        }
    }
}
