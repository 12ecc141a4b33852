//! The words of the tables: formats, fields and operands.

// Generated from `spec`; see `tests/tables.rs`.

/// An encoding format; `Sdwa`, `Sdwab`, `Dpp`, `Dpp16` and `Dpp8` are the extra dword of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Format {
    /// `DPP`.
    Dpp,
    /// `DPP16`.
    Dpp16,
    /// `DPP8`.
    Dpp8,
    /// `DS`.
    Ds,
    /// `EXP`.
    Exp,
    /// `FLAT`.
    Flat,
    /// `GLOBAL`.
    Global,
    /// `LDSDIR`.
    Ldsdir,
    /// `MIMG`.
    Mimg,
    /// `MTBUF`.
    Mtbuf,
    /// `MUBUF`.
    Mubuf,
    /// `SCRATCH`.
    Scratch,
    /// `SDWA`.
    Sdwa,
    /// `SDWAB`.
    Sdwab,
    /// `SMEM`.
    Smem,
    /// `SMRD`.
    Smrd,
    /// `SOP1`.
    Sop1,
    /// `SOP2`.
    Sop2,
    /// `SOPC`.
    Sopc,
    /// `SOPK`.
    Sopk,
    /// `SOPP`.
    Sopp,
    /// `VBUFFER`.
    Vbuffer,
    /// `VDSDIR`.
    Vdsdir,
    /// `VEXPORT`.
    Vexport,
    /// `VFLAT`.
    Vflat,
    /// `VGLOBAL`.
    Vglobal,
    /// `VIMAGE`.
    Vimage,
    /// `VINTERP`.
    Vinterp,
    /// `VINTRP`.
    Vintrp,
    /// `VOP1`.
    Vop1,
    /// `VOP2`.
    Vop2,
    /// `VOP3`.
    Vop3,
    /// `VOP3P`.
    Vop3p,
    /// `VOP3_SDST`.
    Vop3Sdst,
    /// `VOPC`.
    Vopc,
    /// `VOPD`.
    Vopd,
    /// `VSAMPLE`.
    Vsample,
    /// `VSCRATCH`.
    Vscratch,
}

impl Format {
    /// The number of variants.
    pub const COUNT: usize = 38;

    /// Returns the name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dpp => "DPP",
            Self::Dpp16 => "DPP16",
            Self::Dpp8 => "DPP8",
            Self::Ds => "DS",
            Self::Exp => "EXP",
            Self::Flat => "FLAT",
            Self::Global => "GLOBAL",
            Self::Ldsdir => "LDSDIR",
            Self::Mimg => "MIMG",
            Self::Mtbuf => "MTBUF",
            Self::Mubuf => "MUBUF",
            Self::Scratch => "SCRATCH",
            Self::Sdwa => "SDWA",
            Self::Sdwab => "SDWAB",
            Self::Smem => "SMEM",
            Self::Smrd => "SMRD",
            Self::Sop1 => "SOP1",
            Self::Sop2 => "SOP2",
            Self::Sopc => "SOPC",
            Self::Sopk => "SOPK",
            Self::Sopp => "SOPP",
            Self::Vbuffer => "VBUFFER",
            Self::Vdsdir => "VDSDIR",
            Self::Vexport => "VEXPORT",
            Self::Vflat => "VFLAT",
            Self::Vglobal => "VGLOBAL",
            Self::Vimage => "VIMAGE",
            Self::Vinterp => "VINTERP",
            Self::Vintrp => "VINTRP",
            Self::Vop1 => "VOP1",
            Self::Vop2 => "VOP2",
            Self::Vop3 => "VOP3",
            Self::Vop3p => "VOP3P",
            Self::Vop3Sdst => "VOP3_SDST",
            Self::Vopc => "VOPC",
            Self::Vopd => "VOPD",
            Self::Vsample => "VSAMPLE",
            Self::Vscratch => "VSCRATCH",
        }
    }
}

/// A field of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Field {
    /// `a16`.
    A16,
    /// `abs`.
    Abs,
    /// `addr`.
    Addr,
    /// `addr64`.
    Addr64,
    /// `attr`.
    Attr,
    /// `attrchan`.
    Attrchan,
    /// `bank_mask`.
    BankMask,
    /// `bound_ctrl`.
    BoundCtrl,
    /// `clamp`.
    Clamp,
    /// `compr`.
    Compr,
    /// `d16`.
    D16,
    /// `da`.
    Da,
    /// `data`.
    Data,
    /// `data0`.
    Data0,
    /// `data1`.
    Data1,
    /// `dfmt`.
    Dfmt,
    /// `dim`.
    Dim,
    /// `dlc`.
    Dlc,
    /// `dmask`.
    Dmask,
    /// `done`.
    Done,
    /// `dpp_ctrl`.
    DppCtrl,
    /// `dst_sel`.
    DstSel,
    /// `dst_unused`.
    DstUnused,
    /// `en`.
    En,
    /// `fi`.
    Fi,
    /// `format`.
    Format,
    /// `gds`.
    Gds,
    /// `glc`.
    Glc,
    /// `idxen`.
    Idxen,
    /// `imm`.
    Imm,
    /// `ioffset`.
    Ioffset,
    /// `lane_sel`.
    LaneSel,
    /// `lds`.
    Lds,
    /// `lwe`.
    Lwe,
    /// `neg`.
    Neg,
    /// `neg_hi`.
    NegHi,
    /// `neg_lo`.
    NegLo,
    /// `nfmt`.
    Nfmt,
    /// `nsa`.
    Nsa,
    /// `nv`.
    Nv,
    /// `offen`.
    Offen,
    /// `offset`.
    Offset,
    /// `offset0`.
    Offset0,
    /// `offset1`.
    Offset1,
    /// `omod`.
    Omod,
    /// `op`.
    Op,
    /// `op_sel`.
    OpSel,
    /// `op_sel_hi`.
    OpSelHi,
    /// `op_sel_hi2`.
    OpSelHi2,
    /// `opx`.
    Opx,
    /// `opy`.
    Opy,
    /// `r128`.
    R128,
    /// `row`.
    Row,
    /// `row_mask`.
    RowMask,
    /// `rsrc`.
    Rsrc,
    /// `s0`.
    S0,
    /// `s1`.
    S1,
    /// `saddr`.
    Saddr,
    /// `samp`.
    Samp,
    /// `sbase`.
    Sbase,
    /// `scope`.
    Scope,
    /// `sd`.
    Sd,
    /// `sdata`.
    Sdata,
    /// `sdst`.
    Sdst,
    /// `seg`.
    Seg,
    /// `simm16`.
    Simm16,
    /// `slc`.
    Slc,
    /// `soffset`.
    Soffset,
    /// `soffset_en`.
    SoffsetEn,
    /// `src0`.
    Src0,
    /// `src0_abs`.
    Src0Abs,
    /// `src0_neg`.
    Src0Neg,
    /// `src0_sel`.
    Src0Sel,
    /// `src0_sext`.
    Src0Sext,
    /// `src1`.
    Src1,
    /// `src1_abs`.
    Src1Abs,
    /// `src1_neg`.
    Src1Neg,
    /// `src1_sel`.
    Src1Sel,
    /// `src1_sext`.
    Src1Sext,
    /// `src2`.
    Src2,
    /// `srcx0`.
    Srcx0,
    /// `srcy0`.
    Srcy0,
    /// `srsrc`.
    Srsrc,
    /// `ssamp`.
    Ssamp,
    /// `ssrc0`.
    Ssrc0,
    /// `ssrc1`.
    Ssrc1,
    /// `sve`.
    Sve,
    /// `tfe`.
    Tfe,
    /// `tgt`.
    Tgt,
    /// `th`.
    Th,
    /// `unorm`.
    Unorm,
    /// `vaddr`.
    Vaddr,
    /// `vaddr0`.
    Vaddr0,
    /// `vaddr1`.
    Vaddr1,
    /// `vaddr2`.
    Vaddr2,
    /// `vaddr3`.
    Vaddr3,
    /// `vaddr4`.
    Vaddr4,
    /// `vdata`.
    Vdata,
    /// `vdst`.
    Vdst,
    /// `vdstx`.
    Vdstx,
    /// `vdsty`.
    Vdsty,
    /// `vm`.
    Vm,
    /// `vsrc`.
    Vsrc,
    /// `vsrc0`.
    Vsrc0,
    /// `vsrc1`.
    Vsrc1,
    /// `vsrc2`.
    Vsrc2,
    /// `vsrc3`.
    Vsrc3,
    /// `vsrcx1`.
    Vsrcx1,
    /// `vsrcy1`.
    Vsrcy1,
    /// `wait_va_vdst`.
    WaitVaVdst,
    /// `wait_vm_vsrc`.
    WaitVmVsrc,
    /// `waitexp`.
    Waitexp,
}

impl Field {
    /// The number of variants.
    pub const COUNT: usize = 112;

    /// Returns the name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A16 => "a16",
            Self::Abs => "abs",
            Self::Addr => "addr",
            Self::Addr64 => "addr64",
            Self::Attr => "attr",
            Self::Attrchan => "attrchan",
            Self::BankMask => "bank_mask",
            Self::BoundCtrl => "bound_ctrl",
            Self::Clamp => "clamp",
            Self::Compr => "compr",
            Self::D16 => "d16",
            Self::Da => "da",
            Self::Data => "data",
            Self::Data0 => "data0",
            Self::Data1 => "data1",
            Self::Dfmt => "dfmt",
            Self::Dim => "dim",
            Self::Dlc => "dlc",
            Self::Dmask => "dmask",
            Self::Done => "done",
            Self::DppCtrl => "dpp_ctrl",
            Self::DstSel => "dst_sel",
            Self::DstUnused => "dst_unused",
            Self::En => "en",
            Self::Fi => "fi",
            Self::Format => "format",
            Self::Gds => "gds",
            Self::Glc => "glc",
            Self::Idxen => "idxen",
            Self::Imm => "imm",
            Self::Ioffset => "ioffset",
            Self::LaneSel => "lane_sel",
            Self::Lds => "lds",
            Self::Lwe => "lwe",
            Self::Neg => "neg",
            Self::NegHi => "neg_hi",
            Self::NegLo => "neg_lo",
            Self::Nfmt => "nfmt",
            Self::Nsa => "nsa",
            Self::Nv => "nv",
            Self::Offen => "offen",
            Self::Offset => "offset",
            Self::Offset0 => "offset0",
            Self::Offset1 => "offset1",
            Self::Omod => "omod",
            Self::Op => "op",
            Self::OpSel => "op_sel",
            Self::OpSelHi => "op_sel_hi",
            Self::OpSelHi2 => "op_sel_hi2",
            Self::Opx => "opx",
            Self::Opy => "opy",
            Self::R128 => "r128",
            Self::Row => "row",
            Self::RowMask => "row_mask",
            Self::Rsrc => "rsrc",
            Self::S0 => "s0",
            Self::S1 => "s1",
            Self::Saddr => "saddr",
            Self::Samp => "samp",
            Self::Sbase => "sbase",
            Self::Scope => "scope",
            Self::Sd => "sd",
            Self::Sdata => "sdata",
            Self::Sdst => "sdst",
            Self::Seg => "seg",
            Self::Simm16 => "simm16",
            Self::Slc => "slc",
            Self::Soffset => "soffset",
            Self::SoffsetEn => "soffset_en",
            Self::Src0 => "src0",
            Self::Src0Abs => "src0_abs",
            Self::Src0Neg => "src0_neg",
            Self::Src0Sel => "src0_sel",
            Self::Src0Sext => "src0_sext",
            Self::Src1 => "src1",
            Self::Src1Abs => "src1_abs",
            Self::Src1Neg => "src1_neg",
            Self::Src1Sel => "src1_sel",
            Self::Src1Sext => "src1_sext",
            Self::Src2 => "src2",
            Self::Srcx0 => "srcx0",
            Self::Srcy0 => "srcy0",
            Self::Srsrc => "srsrc",
            Self::Ssamp => "ssamp",
            Self::Ssrc0 => "ssrc0",
            Self::Ssrc1 => "ssrc1",
            Self::Sve => "sve",
            Self::Tfe => "tfe",
            Self::Tgt => "tgt",
            Self::Th => "th",
            Self::Unorm => "unorm",
            Self::Vaddr => "vaddr",
            Self::Vaddr0 => "vaddr0",
            Self::Vaddr1 => "vaddr1",
            Self::Vaddr2 => "vaddr2",
            Self::Vaddr3 => "vaddr3",
            Self::Vaddr4 => "vaddr4",
            Self::Vdata => "vdata",
            Self::Vdst => "vdst",
            Self::Vdstx => "vdstx",
            Self::Vdsty => "vdsty",
            Self::Vm => "vm",
            Self::Vsrc => "vsrc",
            Self::Vsrc0 => "vsrc0",
            Self::Vsrc1 => "vsrc1",
            Self::Vsrc2 => "vsrc2",
            Self::Vsrc3 => "vsrc3",
            Self::Vsrcx1 => "vsrcx1",
            Self::Vsrcy1 => "vsrcy1",
            Self::WaitVaVdst => "wait_va_vdst",
            Self::WaitVmVsrc => "wait_vm_vsrc",
            Self::Waitexp => "waitexp",
        }
    }
}

/// The place an operand is encoded in, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum OperandKind {
    /// `addr`.
    Addr,
    /// `attribute`.
    Attribute,
    /// `data`.
    Data,
    /// `data0`.
    Data0,
    /// `data1`.
    Data1,
    /// `delay`.
    Delay,
    /// `depctr`.
    Depctr,
    /// `gpr_idx`.
    GprIdx,
    /// `gpr_idx_src1`.
    GprIdxSrc1,
    /// `hwreg`.
    Hwreg,
    /// `literal`.
    Literal,
    /// `mask_src2`.
    MaskSrc2,
    /// `off`.
    Off,
    /// `parameter`.
    Parameter,
    /// `prefetch_offset`.
    PrefetchOffset,
    /// `sbase`.
    Sbase,
    /// `sdata`.
    Sdata,
    /// `sdst`.
    Sdst,
    /// `sdst_vdst`.
    SdstVdst,
    /// `sendmsg`.
    Sendmsg,
    /// `sendmsg_rtn`.
    SendmsgRtn,
    /// `simm16`.
    Simm16,
    /// `simm16_decimal`.
    Simm16Decimal,
    /// `smem_offset`.
    SmemOffset,
    /// `soffset`.
    Soffset,
    /// `src0`.
    Src0,
    /// `src0_16`.
    Src016,
    /// `src1`.
    Src1,
    /// `src2`.
    Src2,
    /// `srsrc`.
    Srsrc,
    /// `ssamp`.
    Ssamp,
    /// `ssrc0`.
    Ssrc0,
    /// `ssrc1`.
    Ssrc1,
    /// `ssrc_vsrc1`.
    SsrcVsrc1,
    /// `target`.
    Target,
    /// `vaddr`.
    Vaddr,
    /// `vaddrs`.
    Vaddrs,
    /// `vcc`.
    Vcc,
    /// `vdata`.
    Vdata,
    /// `vdst`.
    Vdst,
    /// `vdst16`.
    Vdst16,
    /// `vsrc1`.
    Vsrc1,
    /// `waitcnt`.
    Waitcnt,
}

impl OperandKind {
    /// The number of variants.
    pub const COUNT: usize = 43;

    /// Returns the name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Addr => "addr",
            Self::Attribute => "attribute",
            Self::Data => "data",
            Self::Data0 => "data0",
            Self::Data1 => "data1",
            Self::Delay => "delay",
            Self::Depctr => "depctr",
            Self::GprIdx => "gpr_idx",
            Self::GprIdxSrc1 => "gpr_idx_src1",
            Self::Hwreg => "hwreg",
            Self::Literal => "literal",
            Self::MaskSrc2 => "mask_src2",
            Self::Off => "off",
            Self::Parameter => "parameter",
            Self::PrefetchOffset => "prefetch_offset",
            Self::Sbase => "sbase",
            Self::Sdata => "sdata",
            Self::Sdst => "sdst",
            Self::SdstVdst => "sdst_vdst",
            Self::Sendmsg => "sendmsg",
            Self::SendmsgRtn => "sendmsg_rtn",
            Self::Simm16 => "simm16",
            Self::Simm16Decimal => "simm16_decimal",
            Self::SmemOffset => "smem_offset",
            Self::Soffset => "soffset",
            Self::Src0 => "src0",
            Self::Src016 => "src0_16",
            Self::Src1 => "src1",
            Self::Src2 => "src2",
            Self::Srsrc => "srsrc",
            Self::Ssamp => "ssamp",
            Self::Ssrc0 => "ssrc0",
            Self::Ssrc1 => "ssrc1",
            Self::SsrcVsrc1 => "ssrc_vsrc1",
            Self::Target => "target",
            Self::Vaddr => "vaddr",
            Self::Vaddrs => "vaddrs",
            Self::Vcc => "vcc",
            Self::Vdata => "vdata",
            Self::Vdst => "vdst",
            Self::Vdst16 => "vdst16",
            Self::Vsrc1 => "vsrc1",
            Self::Waitcnt => "waitcnt",
        }
    }
}
