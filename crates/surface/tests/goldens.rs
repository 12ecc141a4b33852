//! Every answer of the real addrlib and `ac_surface`, line by line.

mod support;

use support::Kind;

#[test]
fn gfx9_to_gfx11_sizes_and_addresses() {
    support::check(Kind::A2);
}

#[test]
fn whole_images() {
    support::check(Kind::Tile);
}

#[test]
fn gfx12_sizes_and_addresses() {
    support::check(Kind::A3);
}

#[test]
fn suggested_modes() {
    support::check(Kind::Pref);
}

#[test]
fn tile_swizzles() {
    support::check(Kind::Xor);
}

#[test]
fn gfx9_to_gfx11_metadata() {
    support::check(Kind::M2);
}

#[test]
fn modifier_lists() {
    support::check(Kind::Mods);
}

#[test]
fn whole_surfaces() {
    support::check(Kind::Surf);
}

#[test]
fn gfx6_to_gfx8_sizes_and_addresses() {
    support::check(Kind::A1);
}

#[test]
fn facts_of_chips() {
    support::check(Kind::Ginfo);
}

#[test]
fn gfx6_to_gfx8_metadata() {
    support::check(Kind::M1);
}

#[test]
fn the_tiler_places_every_element_where_the_addresses_say() {
    support::tiler::check();
}
