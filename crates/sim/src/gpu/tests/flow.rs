//! Control flow: chains, calls and waits.

use amdgpu_packets::pm4::{Compare, IndirectBuffer, Target, WaitRegMem, WriteData};

use super::*;

const OTHER: u64 = IB + 0x1000;
const THIRD: u64 = IB + 0x2000;

fn store(at: u64, value: &[u32]) -> WriteData<'_> {
    WriteData::new(va(at), value)
}

#[test]
fn a_chain_goes_on_in_the_other_ib_and_does_not_come_back() {
    for target in Target::all() {
        let rig = Rig::new();
        let other = Stream::new(target).add(store(DATA, &[1])).padded();
        rig.put(OTHER, &other);
        Stream::new(target)
            .add(IndirectBuffer::chain(va(OTHER), other.len() as u32))
            .add(store(DATA + 4, &[2]))
            .run(&rig)
            .unwrap();
        assert_eq!((rig.u32(DATA), rig.u32(DATA + 4)), (1, 0));
    }
}

#[test]
fn a_call_comes_back_even_when_the_called_ib_chains() {
    for level in GfxLevel::ALL {
        let rig = Rig::new();
        let target = Target::gfx(level);
        let third = Stream::new(target).add(store(DATA + 4, &[2])).padded();
        rig.put(THIRD, &third);
        let chain = IndirectBuffer::chain(va(THIRD), third.len() as u32);
        let other = Stream::new(target).add(store(DATA, &[1])).add(chain).padded();
        rig.put(OTHER, &other);
        let call = IndirectBuffer::call(va(OTHER), other.len() as u32);
        Stream::new(target).add(call).add(store(DATA + 8, &[3])).add(call).run(&rig).unwrap();
        assert_eq!([0, 4, 8].map(|at| rig.u32(DATA + at)), [1, 2, 3]);
    }
}

#[test]
fn a_called_ib_can_not_call() {
    for level in GfxLevel::ALL {
        let rig = Rig::new();
        let target = Target::gfx(level);
        rig.put(OTHER, &Stream::new(target).add(IndirectBuffer::call(va(THIRD), 8)).padded());
        let stop = Stream::new(target).add(IndirectBuffer::call(va(OTHER), 8)).run(&rig).unwrap_err();
        let Stop::Refused { place, what } = stop else { panic!("{stop}") };
        assert_eq!((place.level, place.ib.va, place.packet), (2, va(OTHER), "INDIRECT_BUFFER"));
        assert_eq!(what, "an IB that was called can not call another");
    }
}

#[test]
fn mec_neither_calls_nor_takes_an_ib_without_the_valid_bit() {
    for level in GfxLevel::ALL.into_iter().skip(1) {
        let run = |packet| Stream::new(Target::compute(level)).add(packet).run(&Rig::new()).unwrap_err();
        let chain = IndirectBuffer::chain(va(OTHER), 8);
        let call = IndirectBuffer { chain: false, ..chain };
        assert!(matches!(run(call), Stop::Refused { what: "MEC can not call an IB", .. }));
        let blind = IndirectBuffer { valid: false, ..chain };
        assert!(matches!(run(blind), Stop::Refused { what: "MEC takes no IB without the valid bit", .. }));
    }
}

#[test]
fn an_empty_ib_is_called_for_nothing_and_chained_to_in_vain() {
    let target = Target::gfx(GfxLevel::Gfx9);
    let run = |packet| Stream::new(target).add(packet).run(&Rig::new());
    run(IndirectBuffer::call(va(OTHER), 0)).unwrap();
    assert!(matches!(run(IndirectBuffer::chain(va(OTHER), 0)), Err(Stop::Refused { .. })));
    Rig::new().run(&mut Engine::new(super::Target::Pm4(target)), &[]).unwrap();
}

#[test]
fn ibs_that_chain_in_a_circle_are_found_out() {
    let rig = Rig::new();
    let target = Target::compute(GfxLevel::Gfx10);
    let stop = Stream::new(target).add(IndirectBuffer::chain(va(IB), 4)).run(&rig).unwrap_err();
    assert!(matches!(stop, Stop::Endless { packets, .. } if packets > 100_000), "{stop}");
}

#[test]
fn a_cancelled_job_ends_at_its_next_ib() {
    let rig = Rig::new();
    rig.cancelled.set(true);
    let chain = IndirectBuffer::chain(va(IB), 4);
    let stop = Stream::new(Target::gfx(GfxLevel::Gfx11)).add(chain).run(&rig).unwrap_err();
    assert!(matches!(stop, Stop::Cancelled { .. }), "{stop}");
}

#[test]
fn a_wait_that_holds_at_once_asks_for_no_patience() {
    for target in Target::all() {
        let rig = Rig::new();
        rig.put(DATA, &[0xab05]);
        let masked = WaitRegMem { mask: 0xff, ..WaitRegMem::new(va(DATA), Compare::GreaterOrEqual, 5) };
        Stream::new(target).add(masked).run(&rig).unwrap();
        assert_eq!(rig.waited.get(), 0);
    }
}

/// A job whose patience is that of another one, who stores 9 at [`DATA`] when asked for the third time.
struct Helped<'r>(&'r Rig);

impl Job for Helped<'_> {
    fn keep_waiting(&self) -> bool {
        self.0.waited.set(self.0.waited.get() + 1);
        if self.0.waited.get() == 3 {
            self.0.put(DATA, &[9]);
        }
        true
    }

    fn fault(&self, fault: PageFault, place: Place) {
        self.0.fault(fault, place);
    }
}

#[test]
fn a_wait_ends_when_someone_else_writes() {
    let wait = WaitRegMem::new(va(DATA), Compare::Equal, 9);
    let pm4 = Target::all().map(|target| (target.into(), Stream::new(target).add(wait).padded()));
    let poll = dma::PollMem::new(va(DATA), Compare::Equal, 9);
    let sdma = dma::Version::ALL.into_iter().map(|v| (v.into(), Stream::new(v).add(poll).padded()));
    for (target, stream) in pm4.chain(sdma) {
        let rig = Rig::new();
        rig.put(IB, &stream);
        let env =
            Environment { memory: &rig.memory, clock: &rig, job: &Helped(&rig), shaders: &NoShaders, observer: None };
        let ib = Ib { va: va(IB), dwords: stream.len() as u32 };
        Engine::new(target).run(ib, &env).unwrap();
        assert_eq!(rig.waited.get(), 3, "{target}");
    }
}

#[test]
fn a_wait_that_nobody_ends_tells_what_it_waited_for() {
    for target in Target::all() {
        let rig = Rig::new();
        rig.put(DATA, &[0x104]);
        rig.patience.set(10);
        let wait = WaitRegMem { mask: 0xff, ..WaitRegMem::new(va(DATA), Compare::Equal, 5) };
        let stop = Stream::new(target).add(wait).run(&rig).unwrap_err();
        let Stop::GaveUp { at, mask: 0xff, reference: 5, last: 0x104, function: Compare::Equal, .. } = stop else {
            panic!("{stop}")
        };
        assert_eq!((at, rig.waited.get()), (Watched::Memory(va(DATA)), 11));
    }
}

#[test]
fn an_engine_goes_on_after_a_stop() {
    let rig = Rig::new();
    let target = Target::gfx(GfxLevel::Gfx8);
    let mut engine = Engine::new(target.into());
    let circle = Stream::new(target).add(IndirectBuffer::call(va(HOLE), 4)).padded();
    rig.run(&mut engine, &circle).unwrap_err();
    rig.run(&mut engine, &Stream::new(target).add(store(DATA, &[1])).padded()).unwrap();
    assert_eq!(rig.u32(DATA), 1);
}
