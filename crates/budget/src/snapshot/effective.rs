//! The effective pool: how much memory a program can really get.
//!
//! | rule | total | available |
//! |---|---|---|
//! | `dgpu` | usable VRAM | usable VRAM that is not in use |
//! | `apu` | carve-out, and GTT up to MemTotal | free carve-out, and free GTT up to MemAvailable |
//!
//! The GTT of an APU is ordinary system memory, which all processes share. A tool that reports 132 GB for the GPU of a machine with
//! 128 GB of RAM counts the same bytes twice; a tool that reports only a carve-out of 2 GB ignores 98 GB of free memory. A limit of
//! the cgroup on the GPU's own memory (`dmem.max`) is applied last. System memory that the GPU maps is charged to no memory cgroup.
//!
//! A sum with an unknown term is unknown.

use crate::snapshot::model::{CgroupLimit, Domains, Effective, System};

/// Returns the effective memory pool of a GPU.
pub fn effective(apu: Option<bool>, domains: &Domains, system: &System, limit: Option<&CgroupLimit>) -> Effective {
    let mut effective = match apu {
        Some(false) => card(domains),
        Some(true) => apu_pool(domains, system),
        None => Effective { rule: "unknown".to_owned(), ..Effective::default() },
    };
    if let Some(left) = limit.and_then(|limit| Some(limit.max?.saturating_sub(limit.current?)))
        && apu == Some(false)
        && effective.available.is_some_and(|available| left < available)
    {
        effective.available = Some(left);
        effective.limited_by = Some("cgroup".to_owned());
    }
    effective
}

fn card(domains: &Domains) -> Effective {
    Effective {
        total: domains.vram.usable.or(domains.vram.total),
        available: domains.vram.free(),
        rule: "dgpu".to_owned(),
        limited_by: domains.vram.free().map(|_| "vram".to_owned()),
    }
}

fn apu_pool(domains: &Domains, system: &System) -> Effective {
    let total = || {
        let carve_out = domains.vram.usable.or(domains.vram.total)?;
        let gtt = domains.gtt.usable.or(domains.gtt.total)?;
        Some(carve_out.saturating_add(gtt.min(system.mem_total?)))
    };
    let free = domains.vram.free().zip(domains.gtt.free()).zip(system.mem_available);
    let limited_by = free.map(|((_, gtt), memory)| if memory < gtt { "mem_available" } else { "gtt" });
    Effective {
        total: total(),
        available: free.map(|((vram, gtt), memory)| vram.saturating_add(gtt.min(memory))),
        rule: "apu".to_owned(),
        limited_by: limited_by.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::model::Domain;

    const GIB: u64 = 1 << 30;

    fn domain(total: u64, used: u64) -> Domain {
        Domain { total: Some(total), used: Some(used), ..Domain::default() }
    }

    fn apu(vram: Domain, gtt: Domain, mem_total: u64, mem_available: u64) -> Effective {
        let system = System { mem_total: Some(mem_total), mem_available: Some(mem_available) };
        effective(Some(true), &Domains { vram, gtt, ..Domains::default() }, &system, None)
    }

    #[test]
    fn an_apu_never_has_more_gtt_than_the_machine_has_memory() {
        // 128 GB of RAM, half of it carved out, and a GTT limit that was set to more than what is left.
        let pool = apu(domain(64 * GIB, 0), domain(68 * GIB, 0), 62 * GIB, 60 * GIB);
        assert_eq!((pool.total, pool.available), (Some(126 * GIB), Some(124 * GIB)));
        assert_eq!(pool.limited_by.as_deref(), Some("mem_available"));
    }

    #[test]
    fn a_full_carve_out_is_not_a_full_apu() {
        let pool = apu(domain(2 * GIB, 2 * GIB), domain(62 * GIB, GIB), 124 * GIB, 98 * GIB);
        assert_eq!((pool.total, pool.available), (Some(64 * GIB), Some(61 * GIB)));
        assert_eq!(pool.limited_by.as_deref(), Some("gtt"));
    }

    #[test]
    fn unknown_memory_makes_the_pool_unknown() {
        let domains = Domains { vram: domain(GIB, 0), gtt: domain(GIB, 0), ..Domains::default() };
        let pool = effective(Some(true), &domains, &System::default(), None);
        assert_eq!((pool.total, pool.available, pool.limited_by), (None, None, None));
        assert_eq!(effective(None, &domains, &System::default(), None).rule, "unknown");
    }

    #[test]
    fn a_card_has_its_vram_and_a_cgroup_may_take_from_it() {
        let domains = Domains { vram: domain(8 * GIB, 3 * GIB), gtt: domain(32 * GIB, 0), ..Domains::default() };
        let limit = CgroupLimit { max: Some(4 * GIB), current: Some(GIB), ..CgroupLimit::default() };
        let free = effective(Some(false), &domains, &System::default(), None);
        assert_eq!((free.total, free.available), (Some(8 * GIB), Some(5 * GIB)));
        let limited = effective(Some(false), &domains, &System::default(), Some(&limit));
        assert_eq!((limited.available, limited.limited_by.as_deref()), (Some(3 * GIB), Some("cgroup")));
    }
}
