//! Packets as they are compared.

use amdgpu_winsys::cs::dump::{Field, Meaning, Packet, Register};

/// Parts of the names of registers that hold an address, or half of one.
const ADDRESSES: &[&str] = &["_BASE", "_PGM_LO", "_PGM_HI", "_ADDR"];

/// Ends of the names of registers that hold the address of a colour target's metadata: `CB_COLOR0_CMASK` beside
/// `CB_COLOR0_CMASK_SLICE`, which is a size.
const METADATA: &[&str] = &["_CMASK", "_FMASK"];

/// Returns the packet without its place in the IB, and on request with zeros for addresses: fields and registers that hold one by
/// their definition. Addresses in user data are numbers like others.
pub(super) fn without_place(packet: &Packet, without_addresses: bool) -> Packet {
    let mut packet = Packet { offset: 0, ..packet.clone() };
    if without_addresses {
        packet.fields.iter_mut().for_each(field);
        packet.registers.iter_mut().for_each(register);
    }
    packet
}

fn field(field: &mut Field) {
    match &mut field.meaning {
        Meaning::Address(object) => (field.value, *object) = (0, None),
        Meaning::Register(content) if holds_address(content) => {
            register(content);
            field.value = 0;
        }
        Meaning::Register(_) | Meaning::Number | Meaning::Choice(_) => {}
    }
}

fn register(register: &mut Register) {
    if holds_address(register) {
        register.value = register.value.map(|_| 0);
        register.shader = None;
        register.unnamed = 0;
        register.fields.iter_mut().for_each(|field| field.1 = 0);
    }
}

fn holds_address(register: &Register) -> bool {
    let holds =
        |name: &str| ADDRESSES.iter().any(|part| name.contains(part)) || METADATA.iter().any(|end| name.ends_with(end));
    register.name.is_some_and(holds)
}
