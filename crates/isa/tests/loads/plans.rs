//! Plans, executed on made-up memory.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::load::{AddressStep, Alignment, Kind, Load, Place, Plan, Request, Shift, plan, seed, split};
use proptest::prelude::*;

/// A byte of made-up memory.
fn byte(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// Returns the address that a load reads: the register's value, what is added to it before, and the immediate.
fn effective(load: &Load, register: u64) -> u64 {
    let added: u64 = load
        .before
        .iter()
        .flatten()
        .map(|step| match step {
            AddressStep::AddOffset(bytes) => u64::from(*bytes),
            AddressStep::AddAddress(bytes) => *bytes,
            AddressStep::AddOffsetToAddress | AddressStep::ToVector => 0,
        })
        .sum();
    let unit = match load.op {
        "ds_read2_b32" => 4,
        "ds_read2_b64" => 8,
        _ => 1,
    };
    register + added + u64::from(load.immediate) * unit
}

/// Executes a plan for a request whose whole address, constant included, is `address`.
fn execute(request: &Request, level: GfxLevel, plan: &Plan, address: u64) -> Vec<u8> {
    let mut result = Vec::new();
    for piece in plan {
        let access = piece.access;
        let wanted = address + result.len() as u64;
        let (start, dropped, register) = match access.shift {
            Shift::Dynamic => {
                let mask = u64::from(access.align.mul) - 1;
                (wanted & !mask, wanted & mask, wanted & !mask)
            }
            Shift::Known(bytes) => {
                (wanted - u64::from(bytes), u64::from(bytes), address - u64::from(request.const_offset))
            }
            Shift::None => (wanted, 0, address - u64::from(request.const_offset)),
        };
        let register = register.wrapping_add_signed(piece.rebase);
        let mut loaded = Vec::new();
        for load in piece.loads.iter() {
            let at = effective(load, register);
            assert_eq!(at, start + loaded.len() as u64, "{request:?} {level}: {load:?} of {access:?}");
            assert!(load.bytes >= 4 || at.is_multiple_of(load.bytes.into()), "{load:?} at {at:#x}");
            assert!(load.bytes < 4 || at.is_multiple_of(4), "{load:?} at {at:#x}");
            loaded.extend((at..at + u64::from(load.bytes)).map(byte));
        }
        assert!(start + 3 >= wanted, "more than three bytes before the request");
        let from = dropped as usize;
        result.extend(&loaded[from..from + access.yields as usize]);
    }
    result
}

fn kind() -> impl Strategy<Value = (Kind, Place, Place)> {
    proptest::sample::select(vec![
        (Kind::Buffer, Place::Vector, Place::None),
        (Kind::Buffer, Place::Scalar, Place::None),
        (Kind::ScalarBuffer, Place::Scalar, Place::None),
        (Kind::Global, Place::None, Place::Vector),
        (Kind::Global, Place::Vector, Place::Scalar),
        (Kind::ScalarGlobal, Place::None, Place::Scalar),
        (Kind::ScalarGlobal, Place::Scalar, Place::Scalar),
        (Kind::Lds, Place::Vector, Place::None),
        (Kind::Scratch, Place::Vector, Place::None),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Requirement L-1: any request, at any place its alignment allows, gives exactly its bytes.
    #[test]
    fn a_plan_gives_exactly_the_requested_bytes(
        (kind, offset, address) in kind(),
        level in proptest::sample::select(GfxLevel::ALL.to_vec()),
        components in 1_u8..=16,
        size in 0_u32..4,
        mul in 0_u32..7,
        part in 0_u32..64,
        constant in prop_oneof![Just(0), 0_u32..5000, 60_000_u32..80_000],
        place in 0_u64..1000,
    ) {
        let component_bytes = 1_u8 << size;
        // Components of four bytes and more are at least aligned to dwords in Vulkan.
        let mul = if component_bytes >= 4 { mul.max(2) } else { mul };
        let align = Alignment { mul: 1 << mul, offset: part & ((1 << mul) - 1) & if component_bytes >= 4 { !3 } else { !0 } };
        let request = Request {
            kind,
            components: components.min(64 / component_bytes),
            component_bytes,
            align,
            const_offset: constant,
            offset,
            address,
            component_stride: 0,
            swizzle_element: if kind == Kind::Scratch && level <= GfxLevel::Gfx8 { 4 } else { 0 },
        };
        let address = 0x10_0000 + (place << mul) + u64::from(align.offset);
        let bytes: Vec<u8> = (address..address + u64::from(request.bytes())).map(byte).collect();
        let plan = plan(&request, level).unwrap();
        prop_assert_eq!(execute(&request, level, &plan, address), bytes, "{:?} {}", request, level);
    }

    /// The same for the older form, whose alignment is that of the registers. Scalar and vector loads of any size are allowed at
    /// any place.
    #[test]
    fn a_plan_of_the_older_form_gives_exactly_the_requested_bytes(
        (kind, offset, address) in kind(),
        level in proptest::sample::select(GfxLevel::ALL.to_vec()),
        components in 1_u8..=16,
        size in 0_u32..4,
        mul in 0_u32..7,
        part in 0_u32..64,
        constant in prop_oneof![Just(0), 0_u32..5000, 60_000_u32..80_000],
        place in 0_u64..1000,
    ) {
        let component_bytes = 1_u8 << size;
        let align = Alignment { mul: 1 << mul, offset: part & ((1 << mul) - 1) };
        let request = Request {
            kind,
            components: components.min(64 / component_bytes),
            component_bytes,
            align,
            const_offset: constant,
            offset,
            address,
            component_stride: 0,
            swizzle_element: if kind == Kind::Scratch && level <= GfxLevel::Gfx8 { 4 } else { 0 },
        };
        let address = 0x10_0000 + (place << mul) + u64::from(align.offset) + u64::from(constant);
        let bytes: Vec<u8> = (address..address + u64::from(request.bytes())).map(byte).collect();
        let plan = seed(&request, level).unwrap();
        prop_assert_eq!(execute(&request, level, &plan, address), bytes, "{:?} {}", request, level);
    }

    /// Requirement L-5: any request is planned or refused.
    #[test]
    fn any_request_is_planned_or_refused(
        (kind, offset, address) in kind(),
        level in proptest::sample::select(GfxLevel::ALL.to_vec()),
        components in any::<u8>(),
        component_bytes in any::<u8>(),
        (mul, part) in any::<(u32, u32)>(),
        const_offset in any::<u32>(),
        (component_stride, swizzle_element) in any::<(u8, u8)>(),
    ) {
        let align = Alignment { mul, offset: part };
        let request = Request {
            kind, components, component_bytes, align, const_offset, offset, address, component_stride, swizzle_element,
        };
        let _ = plan(&request, level);
        let _ = split(&request, level);
        let _ = seed(&request, level);
    }
}
