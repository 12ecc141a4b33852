//! Untrusted IBs, on every engine of every generation.

use std::cell::{Cell, RefCell};

use amdgpu_fuzz::reach::Reach;
use amdgpu_sim::gpu::{Access, Clock, Engine, Environment, Ib, Job, Memory, NoShaders, PageFault, Place, Stop};
use amdgpu_winsys::{
    cs::{Target, pm4, sdma},
    vamgr::GpuVa,
};

static ANY: Reach = Reach::new("packets::any_ib_is_executed_or_stopped_on_every_engine");
static FRAMED: Reach = Reach::new("packets::any_body_behind_a_true_header_is_executed_or_stopped");

/// All that is bound, bytes from address 0 on.
const SIZE: usize = 1 << 16;
/// Address of the IB.
const IB: u64 = 0x8000;

/// Memory that faults where nothing is bound.
struct Bound(RefCell<Vec<u8>>);

impl Bound {
    fn place(va: GpuVa, len: usize) -> Result<std::ops::Range<usize>, PageFault> {
        let fault = || PageFault { va, access: Access::Read };
        let start = usize::try_from(va.as_u64()).map_err(|_| fault())?;
        let end = start.checked_add(len).filter(|&end| end <= SIZE).ok_or_else(fault)?;
        Ok(start..end)
    }
}

impl Memory for Bound {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        let place = Self::place(va, out.len())?;
        out.copy_from_slice(&self.0.borrow()[place]);
        Ok(())
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        let place = Self::place(va, data.len())?;
        self.0.borrow_mut()[place].copy_from_slice(data);
        Ok(())
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let (from, to) = (Self::place(from, len)?, Self::place(to, len)?);
        self.0.borrow_mut().copy_within(from, to.start);
        Ok(())
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let place = Self::place(to, usize::try_from(len).unwrap_or(usize::MAX))?;
        let bytes = pattern.to_le_bytes();
        self.0.borrow_mut()[place].iter_mut().zip(bytes.iter().cycle()).for_each(|(byte, &value)| *byte = value);
        Ok(())
    }
}

struct Stopped;

impl Clock for Stopped {
    fn ticks(&self) -> u64 {
        0
    }
}

/// A job whose waits end after a few looks.
struct Impatient(Cell<u32>);

impl Job for Impatient {
    fn keep_waiting(&self) -> bool {
        self.0.set(self.0.get() + 1);
        self.0.get() < 8
    }

    fn fault(&self, _: PageFault, _: Place) {}
}

/// Executes an IB; `true` if its first packet was executed, whatever came then.
fn execute(target: Target, ib: &[u8]) -> bool {
    let memory = Bound(RefCell::new(vec![0; SIZE]));
    memory.0.borrow_mut()[IB as usize..][..ib.len()].copy_from_slice(ib);
    let (clock, job) = (Stopped, Impatient(Cell::new(0)));
    let env = Environment { memory: &memory, clock: &clock, job: &job, shaders: &NoShaders, observer: None };
    let is_long = ib.len() >= 8;
    let ib = Ib { va: GpuVa::new(IB).expect("a low address"), dwords: (ib.len() / 4) as u32 };
    let result = Engine::new(target).run(ib, &env);
    if let Err(stop) = &result {
        assert!(!stop.to_string().is_empty());
    }
    match result {
        Ok(()) => is_long,
        Err(
            Stop::Unknown { place, .. }
            | Stop::Malformed { place, .. }
            | Stop::Refused { place, .. }
            | Stop::Fetch { place, .. }
            | Stop::GaveUp { place, .. }
            | Stop::Endless { place, .. }
            | Stop::Cancelled { place }
            | Stop::WavesCancelled { place },
        ) => place.offset > 0 || place.level > 1,
        Err(_) => false,
    }
}

/// Makes every packet one of type 3 that is at most eight dwords long; SDMA's opcodes are what they are.
fn shorten_packets(ib: &mut [u8]) {
    let mut rest = ib;
    while let Some((header, body)) = rest.split_first_chunk_mut::<4>() {
        let dword = u32::from_le_bytes(*header);
        let len = dword >> 16 & 7;
        *header = (3 << 30 | len << 16 | dword & 0x7f01).to_le_bytes();
        rest = body.get_mut(4 * (len as usize + 1)..).unwrap_or_default();
    }
}

#[test]
fn any_ib_is_executed_or_stopped_on_every_engine() {
    let targets: Vec<Target> =
        pm4::Target::all().map(Target::from).chain(sdma::Version::ALL.map(Target::from)).collect();
    bolero::check!().with_iterations(3_000).for_each(|input: &[u8]| {
        let Some((&which, ib)) = input.split_first() else { return ANY.count(false) };
        let mut ib = ib[..ib.len().min(4096) & !3].to_vec();
        // Three of four have packets that end within the IB: of the others, only the first header is looked at.
        if !input.len().is_multiple_of(4) {
            shorten_packets(&mut ib);
        }
        ANY.count(execute(targets[usize::from(which) % targets.len()], &ib));
    });
    ANY.report();
}

/// A dword of a packet's body: nothing, a small number, or an address, most of which are bound.
fn operand(raw: u16) -> u32 {
    match raw & 3 {
        0 => 0,
        1 => u32::from(raw >> 2 & 15),
        2 => u32::from(raw & !3),
        _ => raw.into(),
    }
}

#[test]
fn any_body_behind_a_true_header_is_executed_or_stopped() {
    let named: Vec<u8> = (0..=0xff).filter(|&opcode| pm4::opcode::name(opcode).is_some()).collect();
    let targets: Vec<Target> = pm4::Target::all().map(Target::from).collect();
    bolero::check!().with_type::<(u8, Vec<(u8, [u16; 12], u8)>)>().with_iterations(3_000).for_each(
        |(which, packets)| {
            let mut ib = Vec::new();
            for (opcode, body, len) in packets.iter().take(48) {
                let len = usize::from(*len) % 12 + 1;
                let opcode = named[usize::from(*opcode) % named.len()];
                ib.extend((3_u32 << 30 | (len as u32 - 1) << 16 | u32::from(opcode) << 8).to_le_bytes());
                ib.extend(body.iter().take(len).flat_map(|&raw| operand(raw).to_le_bytes()));
            }
            FRAMED.count(execute(targets[usize::from(*which) % targets.len()], &ib));
        },
    );
    FRAMED.report();
}
