//! Dumps of untrusted IBs.

use amdgpu_fuzz::reach::Reach;
use amdgpu_winsys::{
    cs::{
        Target,
        dump::{Dumper, Limits},
        pm4, sdma,
    },
    vamgr::GpuVa,
};

static ANY: Reach = Reach::new("dumps::any_ib_is_shown_with_all_it_leads_to_for_every_reader");
static FRAMED: Reach = Reach::new("dumps::any_body_behind_a_true_header_is_shown");

/// Address of the IB.
const IB: u64 = 0x8000;

/// The dwords of an IB that lies at [`IB`] and is all the memory there is: calls and chains lead into it again.
fn read(ib: &[u32], va: GpuVa, dwords: usize) -> Option<Vec<u32>> {
    let first = usize::try_from(va.as_u64().checked_sub(IB)? / 4).ok()?;
    Some(ib.get(first..first.checked_add(dwords)?)?.to_vec())
}

/// Dumps an IB as text, and as JSON if asked for, which costs four times as much; `true` if it has packets that were shown.
fn dump(target: Target, ib: &[u32], with_json: bool) -> bool {
    let memory = |va, dwords| read(ib, va, dwords);
    let names = |address| (address % 3 == 0).then(|| format!("{address} is a multiple of three"));
    let limits = Limits { ibs: 16, dwords: 1 << 14, ..Limits::default() };
    let dumper = Dumper::new(target).with_memory(&memory).with_names(&names).with_limits(limits);
    let dump = dumper.dump(ib, GpuVa::new(IB).ok());
    assert!(dump.ibs.len() <= limits.ibs);
    assert!(dump.to_string().lines().count() >= dump.ibs.len());
    if with_json {
        assert_eq!(amdgpu_ib::json::dump(&dump)["ibs"].as_array().map(Vec::len), Some(dump.ibs.len()));
    }
    for (_, problem) in dump.problems() {
        assert!(!problem.to_string().is_empty());
    }
    // A part may begin anywhere.
    let middle = ib.len() / 2;
    assert!(dumper.dump_part(ib, GpuVa::new(IB).ok(), middle..ib.len() + 1).ibs.len() <= limits.ibs);
    dump.ibs.iter().any(|ib| ib.packets.len() > 1)
}

#[test]
fn any_ib_is_shown_with_all_it_leads_to_for_every_reader() {
    let targets: Vec<Target> =
        pm4::Target::all().map(Target::from).chain(sdma::Version::ALL.map(Target::from)).collect();
    bolero::check!().with_type::<(u8, u8, Vec<u32>)>().with_iterations(3_000).for_each(|(which, form, ib)| {
        let target = targets[usize::from(*which) % targets.len()];
        ANY.count(dump(target, &ib[..ib.len().min(1024)], form.is_multiple_of(8)));
    });
    ANY.report();
}

#[test]
fn any_body_behind_a_true_header_is_shown() {
    let named: Vec<u8> = (0..=0xff).filter(|&opcode| pm4::opcode::name(opcode).is_some()).collect();
    let targets: Vec<Target> = pm4::Target::all().map(Target::from).collect();
    bolero::check!().with_type::<(u8, u8, Vec<(u8, [u32; 12], u8)>)>().with_iterations(3_000).for_each(
        |(which, form, packets)| {
            let mut ib = Vec::new();
            for (opcode, body, len) in packets.iter().take(16) {
                let len = usize::from(*len) % 12 + 1;
                let opcode = named[usize::from(*opcode) % named.len()];
                ib.push(3 << 30 | (len as u32 - 1) << 16 | u32::from(opcode) << 8);
                ib.extend(&body[..len]);
            }
            let target = targets[usize::from(*which) % targets.len()];
            FRAMED.count(dump(target, &ib, form.is_multiple_of(8)));
        },
    );
    FRAMED.report();
}
