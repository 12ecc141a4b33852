//! Control groups that limit and protect VRAM: the controller `dmem`, for the region of one device.
//!
//! Source: Linux 7.2 `kernel/cgroup/dmem.c`; `mm/page_counter.c`, `page_counter_try_charge` and
//! `page_counter_calculate_protection`.

use std::collections::BTreeMap;

/// A group that is known to the region. Groups are never forgotten: their settings outlive the processes in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group(usize);

/// The value of a setting that has no limit.
pub(crate) const NO_LIMIT: u64 = u64::MAX;

/// The settings of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Bytes that are never evicted for others.
    Min,
    /// Bytes that are evicted only if nothing else is left.
    Low,
    /// Bytes that the group may have.
    Max,
}

/// The usage and the limits of a group.
#[derive(Clone, Copy, Debug)]
struct Counter {
    parent: Option<Group>,
    usage: u64,
    /// The largest usage so far.
    peak: u64,
    min: u64,
    low: u64,
    max: u64,
}

/// The answer to the question whether a BO may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may.
    Yes,
    /// It may if nothing else can: its group is within the lower of its protections.
    Low,
    /// It may not.
    No,
}

/// The protection of a group that covers its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    Min,
    Low,
    None,
}

/// The groups of a region.
#[derive(Debug)]
pub(crate) struct Groups {
    by_path: BTreeMap<String, Group>,
    counters: Vec<Counter>,
}

impl Counter {
    const fn new(parent: Option<Group>) -> Self {
        Self { parent, usage: 0, peak: 0, min: 0, low: 0, max: NO_LIMIT }
    }

    const fn setting(&self, setting: Setting) -> u64 {
        match setting {
            Setting::Min => self.min,
            Setting::Low => self.low,
            Setting::Max => self.max,
        }
    }

    /// Returns the bytes of its usage that a setting protects.
    fn protected(&self, setting: Setting) -> u64 {
        self.usage.min(self.setting(setting))
    }
}

impl Default for Groups {
    /// Returns a region with the root group alone.
    fn default() -> Self {
        Self { by_path: BTreeMap::from([(String::new(), Self::ROOT)]), counters: vec![Counter::new(None)] }
    }
}

impl Groups {
    /// The group that contains all others, and has no settings.
    pub(crate) const ROOT: Group = Group(0);

    /// Returns the group with a path, such as `/games/one`; groups that are not known yet are created with those above them.
    pub(crate) fn at(&mut self, path: &str) -> Group {
        let path = path.trim_end_matches('/');
        if let Some(&group) = self.by_path.get(path) {
            return group;
        }
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        let parent = self.at(above);
        let group = Group(self.counters.len());
        self.counters.push(Counter::new(Some(parent)));
        self.by_path.insert(path.to_owned(), group);
        group
    }

    /// Returns a known group; `None` if nothing was ever charged to it or set.
    pub(crate) fn find(&self, path: &str) -> Option<Group> {
        self.by_path.get(path.trim_end_matches('/')).copied()
    }

    fn counter(&self, group: Group) -> &Counter {
        &self.counters[group.0]
    }

    /// Returns the group and those above it, the root last.
    fn path(&self, group: Group) -> impl Iterator<Item = Group> + '_ {
        std::iter::successors(Some(group), |group| self.counter(*group).parent)
    }

    pub(crate) fn usage(&self, group: Group) -> u64 {
        self.counter(group).usage
    }

    pub(crate) fn peak(&self, group: Group) -> u64 {
        self.counter(group).peak
    }

    pub(crate) fn setting(&self, group: Group, setting: Setting) -> u64 {
        self.counter(group).setting(setting)
    }

    /// Changes a setting. A limit below the usage is not taken if `strict`.
    pub(crate) fn set(&mut self, group: Group, setting: Setting, value: u64, strict: bool) {
        let counter = &mut self.counters[group.0];
        match setting {
            Setting::Min => counter.min = value,
            Setting::Low => counter.low = value,
            Setting::Max if strict && value < counter.usage => {}
            Setting::Max => counter.max = value,
        }
    }

    /// Returns the lowest group whose limit does not let a charge pass.
    pub(super) fn limiting(&self, group: Group, bytes: u64) -> Option<Group> {
        self.path(group).find(|&group| {
            let Counter { usage, max, .. } = *self.counter(group);
            usage.checked_add(bytes).is_none_or(|sum| sum > max)
        })
    }

    /// Charges a group and those above it.
    pub(super) fn charge(&mut self, group: Group, bytes: u64) {
        let mut next = Some(group);
        while let Some(group) = next {
            let counter = &mut self.counters[group.0];
            counter.usage = counter.usage.saturating_add(bytes);
            counter.peak = counter.peak.max(counter.usage);
            next = counter.parent;
        }
    }

    /// Takes a charge back.
    pub(super) fn uncharge(&mut self, group: Group, bytes: u64) {
        let mut next = Some(group);
        while let Some(group) = next {
            let counter = &mut self.counters[group.0];
            counter.usage = counter.usage.saturating_sub(bytes);
            next = counter.parent;
        }
    }

    /// Returns the nearest group that contains both.
    pub(super) fn common(&self, one: Group, other: Group) -> Group {
        self.path(one).find(|group| self.path(other).any(|above| above == *group)).unwrap_or(Self::ROOT)
    }

    /// Decides whether a BO of a group may be evicted: for room below `limit`, or anywhere without it.
    pub(super) fn verdict(&self, limit: Option<Group>, group: Group) -> Verdict {
        if limit == Some(group) || limit == Some(Self::ROOT) {
            return Verdict::Yes;
        }
        let top = limit.unwrap_or(Self::ROOT);
        if !self.path(group).any(|above| above == top) {
            return Verdict::No;
        }
        match self.cover(top, group, 0) {
            Cover::Min => Verdict::No,
            Cover::Low => Verdict::Low,
            Cover::None => Verdict::Yes,
        }
    }

    /// Returns which protection covers a group's usage and some bytes more, as seen from a group above it.
    pub(super) fn cover(&self, top: Group, group: Group, more: u64) -> Cover {
        if group == top {
            return Cover::None;
        }
        let used = self.usage(group).saturating_add(more);
        if used <= self.effective(top, group, Setting::Min) {
            Cover::Min
        } else if used <= self.effective(top, group, Setting::Low) {
            Cover::Low
        } else {
            Cover::None
        }
    }

    /// Returns the bytes of a group that are protected, as seen from a group above it: the share that the groups between leave. Children
    /// of `top` have what is set; below, what the parent has is divided by what the children claim, and what they do not claim goes to
    /// those that have more, in proportion.
    fn effective(&self, top: Group, group: Group, setting: Setting) -> u64 {
        let counter = self.counter(group);
        let Some(parent) = counter.parent.filter(|_| group != top) else { return 0 };
        if parent == top {
            return counter.setting(setting);
        }
        let whole = self.effective(top, parent, setting);
        let protected = counter.protected(setting);
        let siblings = self.counters.iter().filter(|other| other.parent == Some(parent));
        let claimed: u64 = siblings.map(|other| other.protected(setting)).fold(0, u64::saturating_add);
        let share = |part: u64, of: u64, by: u64| {
            u64::try_from(u128::from(part) * u128::from(of) / u128::from(by)).unwrap_or(u64::MAX)
        };
        if claimed > whole {
            return share(protected, whole, claimed);
        }
        let parent_usage = self.usage(parent);
        if whole > claimed && parent_usage > claimed && counter.usage > protected {
            return protected + share(whole - claimed, counter.usage - protected, parent_usage - claimed);
        }
        protected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A region whose groups have this usage.
    fn region(usages: &[(&str, u64)]) -> Groups {
        let mut groups = Groups::default();
        for &(path, bytes) in usages {
            let group = groups.at(path);
            groups.charge(group, bytes);
        }
        groups
    }

    fn set(groups: &mut Groups, path: &str, setting: Setting, value: u64) {
        let group = groups.at(path);
        groups.set(group, setting, value, true);
    }

    #[test]
    fn a_charge_counts_in_all_groups_above_and_the_lowest_limit_stops_it() {
        let mut groups = region(&[("/a/b", 30), ("/a", 5), ("/c", 7)]);
        let [a, b] = ["/a", "/a/b/"].map(|path| groups.find(path).unwrap());
        assert_eq!((groups.usage(b), groups.usage(a), groups.usage(Groups::ROOT)), (30, 35, 42));
        set(&mut groups, "/a", Setting::Max, 40);
        set(&mut groups, "/a/b", Setting::Max, 31);
        assert_eq!(groups.limiting(b, 1), None);
        assert_eq!(groups.limiting(b, 2), Some(b));
        assert_eq!(groups.limiting(a, 6), Some(a));
        assert_eq!(groups.limiting(b, u64::MAX), Some(b));
        groups.uncharge(b, 30);
        assert_eq!((groups.usage(b), groups.usage(Groups::ROOT), groups.peak(b)), (0, 12, 30));
        // A limit below the usage is not taken.
        set(&mut groups, "/a", Setting::Max, 4);
        assert_eq!(groups.setting(a, Setting::Max), 40);
        groups.set(a, Setting::Max, 4, false);
        assert_eq!(groups.setting(a, Setting::Max), 4);
    }

    #[test]
    fn children_share_what_their_parent_has_by_what_they_claim() {
        let mut groups = region(&[("/p/a", 60), ("/p/b", 60), ("/p/c", 60)]);
        for (path, min) in [("/p", 90), ("/p/a", 60), ("/p/b", 120)] {
            set(&mut groups, path, Setting::Min, min);
        }
        let effective = |groups: &Groups, path: &str| {
            let group = groups.find(path).unwrap();
            groups.effective(Groups::ROOT, group, Setting::Min)
        };
        // a and b claim 60 each, more than the 90 of their parent.
        assert_eq!(["/p", "/p/a", "/p/b", "/p/c"].map(|path| effective(&groups, path)), [90, 45, 45, 0]);
        // What nobody claims goes to usage beyond the claims: 30 of 90 among 60 of b and 60 of c.
        set(&mut groups, "/p/b", Setting::Min, 0);
        assert_eq!(["/p/a", "/p/b", "/p/c"].map(|path| effective(&groups, path)), [60, 15, 15]);
    }

    #[test]
    fn protection_is_for_those_below_the_limit_and_minimum_is_stronger_than_low() {
        let mut groups = region(&[("/a/x", 10), ("/a/y", 10), ("/b", 10)]);
        set(&mut groups, "/a/x", Setting::Min, 10);
        set(&mut groups, "/a", Setting::Min, 10);
        set(&mut groups, "/b", Setting::Low, 10);
        let [a, x, y, b] = ["/a", "/a/x", "/a/y", "/b"].map(|path| groups.find(path).unwrap());
        let verdicts = |limit| [x, y, b].map(|group| groups.verdict(limit, group));
        assert_eq!(verdicts(None), [Verdict::No, Verdict::Yes, Verdict::Low]);
        assert_eq!(verdicts(Some(a)), [Verdict::No, Verdict::Yes, Verdict::No], "b is not below the limit");
        assert_eq!(verdicts(Some(x)), [Verdict::Yes, Verdict::No, Verdict::No], "a group may evict its own");
        assert_eq!(verdicts(Some(Groups::ROOT)), [Verdict::Yes; 3]);
        assert_eq!((groups.common(x, y), groups.common(x, b), groups.common(x, x)), (a, Groups::ROOT, x));
        assert_eq!([0, 1].map(|more| groups.cover(Groups::ROOT, x, more)), [Cover::Min, Cover::None]);
    }
}
