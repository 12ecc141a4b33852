//! Missing waits: which counter of which generation tells when a register may be accessed.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize, assemble,
    builder::{Builder, Program},
};
use amdgpu_waves::{MissingWait, RegisterName, WaitedFor};

use crate::machine::{missing_waits, places};

/// Counters, as waits of [`Code::wait`] name them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    Load,
    Store,
    Sample,
    Lds,
    Scalar,
    Export,
}

/// Code without automatic waits. `v1` is 0, `s[0:1]` and `v[4:5]` are an address, `s[0:3]` a buffer.
struct Code {
    level: GfxLevel,
    wave: WaveSize,
    words: Vec<u32>,
}

impl Code {
    fn new((level, wave): (GfxLevel, WaveSize)) -> Self {
        let mut code = Self { level, wave, words: Vec::new() };
        if level <= GfxLevel::Gfx8 {
            code.op("s_mov_b32 m0, -1");
        }
        code.op("v_mov_b32 v1, 0");
        code.op("v_mov_b32 v4, s0");
        code.op("v_mov_b32 v5, s1");
        code
    }

    fn op(&mut self, text: &str) -> &mut Self {
        self.words.extend_from_slice(assemble(self.level, self.wave, text).expect(text).dwords());
        self
    }

    /// Records text that depends on the generation: up to GFX10, of GFX11, of GFX12.
    fn of(&mut self, old: &str, gfx11: &str, gfx12: &str) -> &mut Self {
        let text = match self.level {
            GfxLevel::Gfx12 => gfx12,
            level if level >= GfxLevel::Gfx11 => gfx11,
            _ => old,
        };
        self.op(text)
    }

    fn load(&mut self, to: u8) -> &mut Self {
        self.of(
            &format!("buffer_load_dword v{to}, v1, s[0:3], 0 offen"),
            &format!("buffer_load_b32 v{to}, v1, s[0:3], 0 offen"),
            &format!("buffer_load_b32 v{to}, v1, s[0:3], null offen"),
        )
    }

    fn store(&mut self, from: u8) -> &mut Self {
        self.of(
            &format!("buffer_store_dword v{from}, v1, s[0:3], 0 offen"),
            &format!("buffer_store_b32 v{from}, v1, s[0:3], 0 offen"),
            &format!("buffer_store_b32 v{from}, v1, s[0:3], null offen"),
        )
    }

    fn sample(&mut self, to: u8) -> &mut Self {
        let dim = if self.level >= GfxLevel::Gfx10 { " dim:SQ_RSRC_IMG_2D" } else { "" };
        let old = format!("image_sample_lz v{to}, v[4:5], s[8:15], s[16:19] dmask:0x1{dim}");
        self.of(&old, &old, &format!("image_sample_lz v{to}, [v4, v5], s[8:15], s[16:19] dmask:0x1{dim}"))
    }

    fn lds(&mut self, to: u8) -> &mut Self {
        let new = format!("ds_load_b32 v{to}, v1");
        self.of(&format!("ds_read_b32 v{to}, v1"), &new, &new)
    }

    fn flat(&mut self, to: u8) -> &mut Self {
        let new = format!("flat_load_b32 v{to}, v[4:5]");
        self.of(&format!("flat_load_dword v{to}, v[4:5]"), &new, &new)
    }

    fn scalar(&mut self, to: u8) -> &mut Self {
        let old = match self.level {
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => format!("s_load_dword s{to}, s[0:1], null"),
            _ => format!("s_load_dword s{to}, s[0:1], 0x0"),
        };
        self.of(&old, &format!("s_load_b32 s{to}, s[0:1], null"), &format!("s_load_b32 s{to}, s[0:1], 0x0"))
    }

    /// Reads a vector register into `v3`.
    fn read(&mut self, register: u8) -> &mut Self {
        self.op(&format!("v_mov_b32 v3, v{register}"))
    }

    fn write(&mut self, register: u8) -> &mut Self {
        self.op(&format!("v_mov_b32 v{register}, 0"))
    }

    /// Records a wait for a counter, in a form of its own or as the only counter of `s_waitcnt`.
    fn wait(&mut self, counter: Counter, value: u32) -> &mut Self {
        let level = self.level;
        if level >= GfxLevel::Gfx12 {
            let name = match counter {
                Counter::Load => "load",
                Counter::Store => "store",
                Counter::Sample => "sample",
                Counter::Lds => "ds",
                Counter::Scalar => "km",
                Counter::Export => "exp",
            };
            return self.op(&format!("s_wait_{name}cnt {value:#x}"));
        }
        if counter == Counter::Store && level >= GfxLevel::Gfx10 {
            return self.op(&format!("s_waitcnt_vscnt null, {value:#x}"));
        }
        let (mut loads, mut exports, mut others) = (63, 7, 63);
        match counter {
            Counter::Load | Counter::Store | Counter::Sample => loads = value,
            Counter::Lds | Counter::Scalar => others = value,
            Counter::Export => exports = value,
        }
        let immediate = match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => loads & 15 | exports << 4 | (others & 15) << 8,
            GfxLevel::Gfx9 => loads & 15 | exports << 4 | (others & 15) << 8 | (loads >> 4) << 14,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => loads & 15 | exports << 4 | others << 8 | (loads >> 4) << 14,
            _ => loads << 10 | others << 4 | exports,
        };
        self.words.push(if level >= GfxLevel::Gfx11 { 0xbf89_0000 } else { 0xbf8c_0000 } | immediate);
        self
    }

    fn missing_in(&self, groups: u32) -> Vec<MissingWait> {
        let mut words = self.words.clone();
        words.extend_from_slice(assemble(self.level, self.wave, "s_endpgm").unwrap().dwords());
        missing_waits(self.level, &frame(self.level, self.wave), &words, groups)
    }

    /// Returns the missing waits as register, access and the waits that are enough.
    fn missing(&self) -> Vec<String> {
        let text = |wait: &MissingWait| {
            let enough = wait.enough.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            format!("{} {}: {enough}", if wait.reads { "reads" } else { "overwrites" }, wait.register)
        };
        self.missing_in(1).iter().map(text).collect()
    }

    #[track_caller]
    fn expect(&self, missing: &[&str]) {
        assert_eq!(self.missing(), missing, "{}", self.level);
    }
}

/// Returns a program with registers and LDS for the code of the tests.
fn frame(level: GfxLevel, wave: WaveSize) -> Program {
    let mut builder = Builder::new(level, wave, 4);
    builder.reserve_lds(1024);
    let (_, _) = (builder.vector(48), builder.scalar(40));
    builder.finish().unwrap()
}

/// Returns the name of the counter up to GFX11 or of GFX12.
fn name(level: GfxLevel, old: &'static str, new: &'static str) -> &'static str {
    if level >= GfxLevel::Gfx12 { new } else { old }
}

#[test]
fn a_loaded_register_is_neither_read_nor_overwritten_before_a_wait() {
    for place in places() {
        let enough = name(place.0, "vmcnt(0)", "loadcnt(0)");
        Code::new(place).load(2).read(2).expect(&[&format!("reads v2: {enough}")]);
        Code::new(place).load(2).write(2).expect(&[&format!("overwrites v2: {enough}")]);
        Code::new(place).load(2).read(6).expect(&[]);
        Code::new(place).load(2).wait(Counter::Load, 0).read(2).write(2).expect(&[]);
        for other in [Counter::Lds, Counter::Export] {
            Code::new(place).load(2).wait(other, 0).read(2).expect(&[&format!("reads v2: {enough}")]);
        }
    }
}

#[test]
fn a_finding_names_both_instructions_and_comes_once() {
    for place in places() {
        let mut code = Code::new(place);
        let before = code.words.len();
        let bytes = 4 * (code.load(2).words.len() - before);
        code.read(2);
        let found = code.missing_in(3);
        let [wait] = &found[..] else { panic!("{found:?}") };
        assert!(wait.operation.text.starts_with("buffer_load_"), "{wait}");
        assert!(wait.instruction.text.starts_with("v_mov_b32"), "{wait}");
        assert_eq!(wait.instruction.pc - wait.operation.pc, bytes as u64);
        assert_eq!((wait.register, wait.waited_for), (RegisterName::Vector(2), WaitedFor::Result));
        assert_eq!((wait.group, wait.wave), ([0; 3], 0));
        assert!(wait.to_string().contains("reads v2, the result of 0x"), "{wait}");
    }
}

#[test]
fn loads_complete_in_order() {
    for place in places() {
        let last = name(place.0, "vmcnt", "loadcnt");
        let mut code = Code::new(place);
        code.load(2).load(6);
        let start = code.words.len();
        code.read(2).expect(&[&format!("reads v2: {last}(1)")]);
        code.words.truncate(start);
        code.wait(Counter::Load, 1).read(2).read(6).expect(&[&format!("reads v6: {last}(0)")]);
    }
}

#[test]
fn a_limit_of_vmcnt_has_four_bits_before_gfx9_and_six_since() {
    for place in places() {
        let mut code = Code::new(place);
        (6..40).for_each(|register| {
            code.load(register);
        });
        let enough = match place.0 {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => 14,
            _ => 33,
        };
        let start = code.words.len();
        code.read(6).expect(&[&format!("reads v6: {}({enough})", name(place.0, "vmcnt", "loadcnt"))]);
        code.words.truncate(start);
        code.wait(Counter::Load, enough).read(6).expect(&[]);
    }
}

#[test]
fn stores_count_with_loads_up_to_gfx9() {
    for place in places() {
        let enough = match place.0 {
            level if level < GfxLevel::Gfx10 => "vmcnt(1)",
            GfxLevel::Gfx12 => "loadcnt(0)",
            _ => "vmcnt(0)",
        };
        Code::new(place).load(2).store(7).read(2).expect(&[&format!("reads v2: {enough}")]);
        let waited = Code::new(place).load(2).store(7).wait(Counter::Store, 0).read(2).missing();
        assert_eq!(waited.is_empty(), place.0 < GfxLevel::Gfx10, "{}", place.0);
    }
}

#[test]
fn loads_to_lds_count_as_loads() {
    for place in places().into_iter().filter(|place| place.0 < GfxLevel::Gfx11) {
        let mut code = Code::new(place);
        code.op("s_mov_b32 m0, 0x100").load(2);
        // The assembler lacks the form without a register, which differs by one bit.
        let at = code.words.len();
        code.load(0);
        code.words[at] |= 1 << 16;
        code.read(2).expect(&["reads v2: vmcnt(1)"]);
    }
}

#[test]
fn scalar_loads_complete_in_any_order() {
    for place in places() {
        let enough = name(place.0, "lgkmcnt(0)", "kmcnt(0)");
        let read = "v_mov_b32 v3, s20";
        Code::new(place).scalar(20).scalar(24).op(read).expect(&[&format!("reads s20: {enough}")]);
        let mut code = Code::new(place);
        code.scalar(20).scalar(24).wait(Counter::Scalar, 1).op(read).expect(&[&format!("reads s20: {enough}")]);
        Code::new(place).scalar(20).scalar(24).wait(Counter::Scalar, 0).op(read).expect(&[]);
        Code::new(place).scalar(20).scalar(20).expect(&[&format!("overwrites s20: {enough}")]);
        Code::new(place).scalar(20).op("s_mov_b32 s20, 0").expect(&[&format!("overwrites s20: {enough}")]);
    }
}

#[test]
fn vcc_is_read_by_branches_and_selections_that_do_not_name_it() {
    for place in places() {
        let enough = name(place.0, "lgkmcnt(0)", "kmcnt(0)");
        let load = |code: &mut Code| {
            let start = if code.level >= GfxLevel::Gfx11 { "s_load_b64" } else { "s_load_dwordx2" };
            let null = (GfxLevel::Gfx10..GfxLevel::Gfx12).contains(&code.level);
            code.op(&format!("{start} vcc, s[0:1], {}", if null { "null" } else { "0x0" }));
        };
        for reader in ["s_cbranch_vccnz 0", "v_cndmask_b32 v3, v1, v1, vcc", "v_div_fmas_f32 v3, v1, v1, v1"] {
            let mut code = Code::new(place);
            load(&mut code);
            let vcc = if place.1 == WaveSize::Wave32 { "vcc_lo" } else { "vcc" };
            code.op(&reader.replace("vcc", if reader.starts_with('v') { vcc } else { "vcc" }));
            code.expect(&[&format!("reads vcc_lo: {enough}")]);
        }
    }
}

#[test]
fn lds_completes_in_order_but_not_with_scalar_loads() {
    for place in places() {
        let enough = name(place.0, "lgkmcnt", "dscnt");
        Code::new(place).lds(2).lds(6).read(2).expect(&[&format!("reads v2: {enough}(1)")]);
        Code::new(place).lds(2).lds(6).wait(Counter::Lds, 1).read(2).expect(&[]);
        Code::new(place).lds(2).scalar(20).read(2).expect(&[&format!("reads v2: {enough}(0)")]);
        let mut code = Code::new(place);
        code.lds(2).scalar(20).wait(Counter::Lds, 1).read(2).expect(&[&format!("reads v2: {enough}(0)")]);
        // One counter up to GFX11, two of GFX12.
        let waited = Code::new(place).lds(2).wait(Counter::Scalar, 0).read(2).missing();
        assert_eq!(waited.is_empty(), place.0 < GfxLevel::Gfx12, "{}", place.0);
    }
}

#[test]
fn results_of_one_unit_are_overwritten_in_order_except_by_loads_of_gfx12() {
    for place in places() {
        let gfx12 = place.0 >= GfxLevel::Gfx12;
        let loads = Code::new(place).load(2).load(2).missing();
        assert_eq!(loads, if gfx12 { vec!["overwrites v2: loadcnt(0)"] } else { vec![] }, "{}", place.0);
        Code::new(place).lds(2).lds(2).expect(&[]);
        let load = name(place.0, "vmcnt(0)", "loadcnt(0)");
        Code::new(place).load(2).lds(2).expect(&[&format!("overwrites v2: {load}")]);
        Code::new(place).load(2).sample(2).expect(&[&format!("overwrites v2: {load}")]);
        // The second load is still outstanding when the first is not.
        if !gfx12 {
            Code::new(place).load(2).load(2).wait(Counter::Load, 1).read(2).expect(&["reads v2: vmcnt(0)"]);
        }
    }
}

#[test]
fn samples_and_loads_share_a_counter_up_to_gfx11() {
    for place in places() {
        let enough = name(place.0, "vmcnt(1)", "samplecnt(0)");
        Code::new(place).sample(2).load(6).read(2).expect(&[&format!("reads v2: {enough}")]);
        Code::new(place).sample(2).wait(Counter::Sample, 0).read(2).expect(&[]);
        let waited = Code::new(place).sample(2).wait(Counter::Load, 0).read(2).missing();
        assert_eq!(waited.is_empty(), place.0 < GfxLevel::Gfx12, "{}", place.0);
    }
}

#[test]
fn the_data_of_a_store_is_kept_until_expcnt_says_so_on_gfx6_alone() {
    for place in places() {
        let gfx6 = place.0 == GfxLevel::Gfx6;
        let mut code = Code::new(place);
        code.store(7).write(7).expect(if gfx6 { &["overwrites v7: expcnt(0)"] } else { &[] });
        if gfx6 {
            assert_eq!(code.missing_in(1)[0].waited_for, WaitedFor::StoredData);
        }
        Code::new(place).store(7).read(7).write(1).expect(&[]);
        Code::new(place).store(7).wait(Counter::Export, 0).write(7).expect(&[]);
        let mut code = Code::new(place);
        code.store(7).store(8).wait(Counter::Export, 1).write(7).write(8);
        code.expect(if gfx6 { &["overwrites v8: expcnt(0)"] } else { &[] });
    }
}

#[test]
fn flat_loads_have_two_counters_and_up_to_gfx9_no_order() {
    for place in places().into_iter().filter(|place| place.0 >= GfxLevel::Gfx7) {
        let [load, lds] = [name(place.0, "vmcnt", "loadcnt"), name(place.0, "lgkmcnt", "dscnt")];
        Code::new(place).flat(2).read(2).expect(&[&format!("reads v2: {load}(0) {lds}(0)")]);
        Code::new(place).flat(2).wait(Counter::Load, 0).read(2).expect(&[&format!("reads v2: {lds}(0)")]);
        Code::new(place).flat(2).wait(Counter::Lds, 0).read(2).expect(&[&format!("reads v2: {load}(0)")]);
        Code::new(place).flat(2).wait(Counter::Load, 0).wait(Counter::Lds, 0).read(2).expect(&[]);
        let in_order = place.0 >= GfxLevel::Gfx10;
        let enough = u8::from(in_order);
        Code::new(place).flat(2).flat(6).read(2).expect(&[&format!("reads v2: {load}({enough}) {lds}({enough})")]);
        // A load whose counter a FLAT load may decrement first.
        let waited = Code::new(place).load(2).load(6).flat(7).wait(Counter::Load, 1).read(2).missing();
        assert_eq!(waited.is_empty(), in_order, "{}: {waited:?}", place.0);
        let mut code = Code::new(place);
        code.flat(7).wait(Counter::Load, 0).load(2).load(6).wait(Counter::Load, 1).read(2).expect(&[]);
    }
}

#[test]
fn barriers_and_waits_for_other_hazards_complete_no_load() {
    for place in places() {
        let expected = format!("reads v2: {}", name(place.0, "vmcnt(0)", "loadcnt(0)"));
        let mut code = Code::new(place);
        code.load(2);
        if place.0 >= GfxLevel::Gfx12 {
            code.op("s_barrier_signal -1").op("s_barrier_wait 0xffff").op("s_wait_alu 0");
        } else {
            code.op("s_barrier");
        }
        if (GfxLevel::Gfx10..GfxLevel::Gfx12).contains(&place.0) {
            code.op("s_waitcnt_depctr 0");
        }
        code.read(2).expect(&[&expected]);
    }
}

#[test]
fn waits_have_forms_for_one_counter_for_two_and_for_all() {
    for place in places() {
        let one = (GfxLevel::Gfx10..GfxLevel::Gfx12).contains(&place.0);
        if one {
            Code::new(place).load(2).op("s_waitcnt_vmcnt null, 0x0").read(2).expect(&[]);
            Code::new(place).lds(2).op("s_waitcnt_lgkmcnt null, 0x0").read(2).expect(&[]);
            // The limit is the sum of a register and the constant.
            Code::new(place).load(2).op("s_waitcnt_vmcnt s4, 0x0").read(2).expect(&["reads v2: vmcnt(0)"]);
        }
        if place.0 >= GfxLevel::Gfx10 {
            Code::new(place).load(2).lds(6).scalar(20).op("s_wait_idle").read(2).read(6).expect(&[]);
        }
        if place.0 >= GfxLevel::Gfx12 {
            let mut code = Code::new(place);
            code.load(2).load(6).lds(7).op("s_wait_loadcnt_dscnt 0x100").read(2).read(7).read(6);
            code.expect(&["reads v6: loadcnt(0)"]);
            let mut code = Code::new(place);
            code.load(2).lds(7).op("s_wait_storecnt_dscnt 0x0").read(7).read(2).expect(&["reads v2: loadcnt(0)"]);
        }
    }
}

#[test]
fn lanes_that_are_off_may_be_overwritten_up_to_gfx10() {
    for place in places() {
        let (exec, all) = if place.1 == WaveSize::Wave32 { ("b32 exec_lo", "-1") } else { ("b64 exec", "-1") };
        let mut code = Code::new(place);
        code.op(&format!("s_mov_{exec}, 15")).load(2).op(&format!("s_mov_{exec}, -16")).write(2).read(2);
        let start = code.words.len();
        let missing = code.missing();
        assert_eq!(missing.is_empty(), place.0 < GfxLevel::Gfx11, "{}: {missing:?}", place.0);
        code.words.truncate(start);
        code.op(&format!("s_mov_{exec}, {all}")).op("v_mov_b32 v8, v2");
        let missing = code.missing_in(1);
        assert!(missing.iter().any(|wait| wait.instruction.text.contains("v8")), "{missing:?}");
    }
}
