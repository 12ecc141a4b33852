//! The server of a world.

use std::{
    cell::Cell,
    collections::HashSet,
    fmt::Write as _,
    io::Write as _,
    ops::ControlFlow,
    os::fd::{AsFd, AsRawFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use amdgpu_sim::{
    Client as _, LoadScript, Profile, SimDevice, SimKernel, SimMachine, SimOptions, chip, on_behalf_of,
    sysfs::{self, Place, Store, WakeAlarm, check_sleep, is_true},
};
use amdgpu_uapi::Request;
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{SigSet, SigmaskHow},
        socket::{
            AddressFamily, Backlog, SockFlag, SockType, UnixAddr, UnixCredentials, accept4, bind, getsockopt, listen,
            socket, sockopt::PeerCredentials,
        },
    },
    unistd::geteuid,
};
use parking_lot::Mutex;

use crate::{
    Layout, WorldError,
    client::Remote,
    files::{Files, OpenFile},
    memories::Memories,
    persistent::keep_on,
    process::Process,
    seats::{Seat, Seats},
    table,
    text::text_file,
    tree::directory::{ClientDirectory, Directory},
    tree::slots::Slots,
    trust::is_trusted,
    uevents::Listeners,
    wire::{Call, Message, send},
};

/// Time that the server waits if it has no descriptor left for a connection: until a client closes one.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(5);

/// Parses a list of chips such as `navi21,renoir`. An element can also be the path of a captured GPU's file.
///
/// # Errors
///
/// [`WorldError::Chip`] if there is no such chip or the file is not a capture, [`WorldError::TooMany`] if there are more GPUs than
/// minor numbers.
pub fn gpus(list: &str) -> Result<Vec<Arc<Profile>>, WorldError> {
    let found = list.split(',').map(|word| chip(word.trim())).collect::<Result<Vec<_>, _>>()?;
    match found.len() {
        count if Place::new(count - 1).is_none() => Err(WorldError::TooMany { count }),
        _ => Ok(found),
    }
}

/// The server of a world: its devices, and the files and mappings that clients have of them.
#[derive(Debug)]
pub struct Server {
    layout: Layout,
    /// The machine of the devices: their dma-bufs and fences go between them.
    machine: SimMachine,
    devices: Mutex<Slots>,
    directory: Mutex<Option<Directory>>,
    /// The alarm of the computer's clock.
    alarm: Mutex<WakeAlarm>,
    files: Files,
    seats: Arc<Seats>,
    /// The connections of processes of other users, which have their own limit.
    strangers: Arc<Seats>,
    memories: Memories,
    traffic: Counters,
    /// The sockets of clients that listen to the kernel's events.
    listeners: Listeners,
}

/// The counters of client activity since the start of a world.
#[derive(Debug, Default)]
struct Counters {
    connections: AtomicU64,
    openings: AtomicU64,
    requests: AtomicU64,
}

/// The activity of clients since the start of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of connections. A process makes one for each of its threads that makes calls at the same time.
    pub connections: u64,
    /// The number of times that a node was opened.
    pub openings: u64,
    /// The number of ioctls on nodes.
    pub requests: u64,
}

/// A running server. Dropping it removes the world's directory, but its threads serve connected clients until the process ends.
#[derive(Debug)]
pub struct Running {
    server: Arc<Server>,
}

/// The time after which complaints are printed although no call failed.
const BETWEEN_COMPLAINTS: std::time::Duration = std::time::Duration::from_millis(200);

impl Running {
    /// Prints the complaints that were not printed yet to standard error.
    pub fn print_complaints(&self) {
        self.server.print_complaints();
    }

    /// Returns the paths in the world's directory.
    pub fn layout(&self) -> &Layout {
        &self.server.layout
    }

    /// Makes every device report the load of a script.
    pub fn follow_load(&self, load: &LoadScript) {
        for device in self.devices() {
            device.follow_load(Some(load.clone()));
        }
    }

    /// Returns the activity of clients so far.
    pub fn traffic(&self) -> Traffic {
        let Counters { connections, openings, requests } = &self.server.traffic;
        let [connections, openings, requests] =
            [connections, openings, requests].map(|counter| counter.load(Ordering::Relaxed));
        Traffic { connections, openings, requests }
    }

    /// Returns the devices of the world, without unplugged ones.
    pub fn devices(&self) -> Vec<SimDevice> {
        self.server.devices.lock().present().cloned().collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let directory = self.server.directory.lock().take();
        // The preload library must not lead the removal of the tree out of it.
        let before = SERVES.replace(true);
        drop(directory);
        SERVES.set(before);
    }
}

impl Server {
    /// Starts a server on threads of this process, with one device for each chip. All devices have the given options, but each has
    /// its own place.
    ///
    /// The threads have their own descriptor table, so that the server can also run in the process of a client.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if there are too many chips, the directory cannot be created, or the server cannot be started.
    pub fn start(profiles: &[Arc<Profile>], options: SimOptions) -> Result<Running, WorldError> {
        // One machine: its GPUs take each other's dma-bufs and fences.
        let machine = SimMachine::new();
        let devices = profiles
            .iter()
            .enumerate()
            .map(|(index, profile)| {
                let place = Place::new(index).ok_or(WorldError::TooMany { count: profiles.len() })?;
                Ok(machine.add(Arc::clone(profile), SimOptions { place, ..options }))
            })
            .collect::<Result<Vec<_>, WorldError>>()?;
        let (ready, started) = mpsc::sync_channel(1);
        // The server's threads inherit this: signals are for the program whose process it lives in.
        let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK);
        let spawned = spawn("amdgpu-sim world", move || match Self::prepare(machine, devices) {
            Ok((server, listeners)) => {
                let told = ready.send(Ok(Arc::clone(&server)));
                if told.is_ok() {
                    server.accept(&listeners);
                }
            }
            Err(error) => {
                // Its waiter has given up only if the process ends.
                let _ = ready.send(Err(error));
            }
        });
        if let Ok(before) = before {
            // Fails for no mask that was in force.
            let _ = before.thread_set_mask();
        }
        spawned?;
        let died = |_| WorldError::Start { what: "start the server's thread", errno: Errno::ECHILD };
        let server = started.recv().map_err(died)??;
        Ok(Running { server })
    }

    fn prepare(machine: SimMachine, devices: Vec<SimDevice>) -> Result<(Arc<Self>, Vec<OwnedFd>), WorldError> {
        let failed = |what| move |errno| WorldError::Start { what, errno };
        table::leave_descriptor_table().map_err(failed("get descriptors of its own for the server"))?;
        let directory = Directory::create(&devices)?;
        let layout = directory.layout().clone();
        let addresses = [UnixAddr::new(&layout.socket()), UnixAddr::new_abstract(layout.back_door().as_bytes())];
        let [by_path, by_name] = addresses.map(|address| address.and_then(|address| listen_at(&address)));
        let listeners = [by_path, by_name].into_iter().collect::<Result<Vec<_>, _>>();
        let listeners = listeners.map_err(failed("listen on the world's sockets"))?;
        let files = Files::new().map_err(failed("watch files"))?;
        let server = Arc::new(Self {
            layout,
            machine,
            devices: Mutex::new(Slots::new(devices)),
            directory: Mutex::new(Some(directory)),
            alarm: Mutex::default(),
            files,
            seats: Arc::default(),
            strangers: Arc::default(),
            memories: Memories::default(),
            traffic: Counters::default(),
            listeners: Listeners::default(),
        });
        let watcher = Arc::clone(&server);
        spawn("amdgpu-sim closer", move || {
            let round = || {
                watcher.files.wait_and_release();
                watcher.carry_out();
                ControlFlow::Continue(())
            };
            keep_on("the closing of files", round, |what| watcher.say(what));
        })?;
        let speaker = Arc::clone(&server);
        spawn("amdgpu-sim speaker", move || {
            // A program that waits makes no call that would print them.
            let round = || {
                std::thread::sleep(BETWEEN_COMPLAINTS);
                speaker.print_complaints();
                speaker.update_coredumps();
                speaker.tell_listeners();
                ControlFlow::Continue(())
            };
            keep_on("the printing of complaints", round, |what| speaker.say(what));
        })?;
        Ok((server, listeners))
    }

    /// Accepts connections until the sockets are gone.
    fn accept(self: &Arc<Self>, listeners: &[OwnedFd]) {
        let round = || match self.accept_some(listeners) {
            Ok(()) => ControlFlow::Continue(()),
            Err(errno) => {
                self.say(&format!("the world's sockets are gone: {errno}"));
                ControlFlow::Break(())
            }
        };
        keep_on("the acceptance of connections", round, |what| self.say(what));
    }

    /// Waits for connections, and accepts those that are there.
    fn accept_some(self: &Arc<Self>, listeners: &[OwnedFd]) -> Result<(), Errno> {
        let mut wanted: Vec<_> =
            listeners.iter().map(|listener| PollFd::new(listener.as_fd(), PollFlags::POLLIN)).collect();
        match poll(&mut wanted, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR | Errno::EAGAIN | Errno::ENOMEM) => {}
            Err(errno) => return Err(errno),
        }
        let ready = wanted.iter().map(|wanted| wanted.any().unwrap_or(false));
        let mut ready = listeners.iter().zip(ready).filter(|(_, ready)| *ready);
        ready.try_for_each(|(listener, _)| self.accept_one(listener))
    }

    fn accept_one(self: &Arc<Self>, listener: &OwnedFd) -> Result<(), Errno> {
        let connection = match accept4(listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
            Ok(number) => table::own(number),
            Err(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM | Errno::ENOBUFS) => {
                thread::sleep(OUT_OF_DESCRIPTORS);
                return Ok(());
            }
            // The client may be gone again.
            Err(Errno::EINTR | Errno::ECONNABORTED | Errno::EAGAIN) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        let Ok(peer) = getsockopt(&connection, PeerCredentials) else { return Ok(()) };
        let seat = self.admit(&peer);
        let process = Process::of(peer.pid());
        let memory = self.memories.of(process);
        let wants_memory = u64::from(memory.is_none());
        let welcome = Message::answer(Call::Welcome, seat.as_ref().map(|_| wants_memory).map_err(|errno| *errno));
        // Who is gone already needs no welcome; there is room for one message in any socket.
        let sent = send(connection.as_fd(), &welcome, None);
        let (Ok(seat), Ok(())) = (seat, sent) else { return Ok(()) };
        self.traffic.connections.fetch_add(1, Ordering::Relaxed);
        let server = Arc::clone(self);
        let remote = Arc::new(Remote::new(process, memory, is_trusted(&peer), connection));
        if let Err(error) = spawn("amdgpu-sim client", move || server.serve(&remote, &seat)) {
            self.say(&error.to_string());
        }
        Ok(())
    }

    /// Decides if a process gets a connection. One of another user is served as far as its descriptors go: it may have been
    /// given one, or had the rights to open it and given them up.
    fn admit(&self, peer: &UnixCredentials) -> Result<Seat, Errno> {
        let seats = if is_trusted(peer) { &self.seats } else { &self.strangers };
        seats.take(peer.pid())
    }

    /// Serves one connection until it ends.
    fn serve(self: &Arc<Self>, remote: &Arc<Remote>, _: &Seat) {
        let mut shown = HashSet::new();
        while let Ok(call) = remote.next_call(|memory| self.memories.keep(remote.process(), memory)) {
            // What the client closed before this call is gone when it is served.
            self.files.release();
            self.carry_out();
            let (result, ancillary) = match self.answer(remote, &mut shown, &call) {
                Ok((value, ancillary)) => (Ok(value), ancillary),
                Err(errno) => {
                    self.print_complaints();
                    (Err(errno), None)
                }
            };
            if remote.done(result, ancillary.as_ref()).is_err() {
                return;
            }
        }
    }

    /// The file that a call names, which the client has shown that it has.
    ///
    /// Numbers are easily guessed, and the names of sockets are public, so the client proves its claim with a descriptor.
    fn shown_file(
        &self,
        remote: &Remote,
        shown: &mut HashSet<u64>,
        number: u64,
        descriptor: u64,
    ) -> Result<Arc<OpenFile>, Errno> {
        let Some(file) = self.files.get(number) else {
            shown.remove(&number);
            return Err(Errno::ENODEV);
        };
        if !shown.contains(&number) {
            let given = remote.descriptor(RawFd::try_from(descriptor).map_err(|_| Errno::EBADF)?)?;
            if !self.files.is_of(number, &given) {
                return Err(Errno::EBADF);
            }
            shown.insert(number);
        }
        Ok(file)
    }

    fn answer(
        self: &Arc<Self>,
        remote: &Arc<Remote>,
        shown: &mut HashSet<u64>,
        call: &Message,
    ) -> Result<(u64, Option<OwnedFd>), Errno> {
        let [first, second, third] = call.words;
        let mut file = || self.shown_file(remote, shown, call.file, third);
        match call.call() {
            // Root's rights are for root: what a process without them gets at all, it gets from a server of its own user.
            _ if !remote.is_trusted() && geteuid().is_root() => Err(Errno::EACCES),
            Some(
                Call::Open
                | Call::SwSync
                | Call::OpenStore
                | Call::Outcome
                | Call::Recover
                | Call::Refresh
                | Call::Fdinfo
                | Call::Census
                | Call::Uevents
                | Call::RefreshClients
                | Call::Picture,
            ) if !remote.is_trusted() => Err(Errno::EACCES),
            Some(Call::Open) => {
                let opened = on_behalf_of(remote.pid(), || self.open(first, second, third != 0));
                opened.map(|fd| (0, Some(fd)))
            }
            Some(Call::SwSync) => Ok((0, Some(self.machine.open_sw_sync(&remote.command())?))),
            Some(Call::Uevents) => self.open_listener().map(|fd| (0, Some(fd))),
            Some(Call::OpenStore) => self.open_store(first, remote.pid()).map(|fd| (0, Some(fd))),
            Some(Call::Outcome) => self.files.stores.outcome(first).map(|()| (0, None)),
            Some(Call::Recover) => self.recover(first).map(|()| (0, None)),
            Some(Call::Ioctl) => {
                self.traffic.requests.fetch_add(1, Ordering::Relaxed);
                let request = Request::from_bits(first as u32);
                let client = Arc::clone(remote) as Arc<dyn amdgpu_sim::Client>;
                let file = file()?;
                file.used_by(remote.process());
                returned(file.kernel.serve(client, request, second)).map(|word| (word, None))
            }
            Some(Call::DescriptorIoctl) => {
                let request = Request::from_bits(first as u32);
                let fd = remote.descriptor(RawFd::try_from(third).map_err(|_| Errno::EBADF)?)?;
                let client = Arc::clone(remote) as Arc<dyn amdgpu_sim::Client>;
                returned(self.machine.serve(client, fd.as_fd(), request, second)).map(|word| (word, None))
            }
            Some(Call::Map) => self.files.map(&file()?, first, second).map(|fd| (0, Some(fd))),
            Some(Call::Inode) => self.files.of_inode(first).map(|file| (file.minor.into(), None)).ok_or(Errno::ENOENT),
            Some(Call::Refresh) => on_behalf_of(remote.pid(), || self.refresh(first != 0, second)).map(|()| (0, None)),
            Some(Call::RefreshClients) => self.refresh_clients().map(|()| (0, None)),
            Some(Call::Fdinfo) => {
                let file = self.files.of_inode(first).ok_or(Errno::ENOENT)?;
                text_file(c"amdgpu-sim text", fdinfo(&file).as_bytes()).map(|fd| (0, Some(fd)))
            }
            Some(Call::Picture) => self.picture(),
            Some(Call::Census) => text_file(c"amdgpu-sim text", self.census().as_bytes()).map(|fd| (0, Some(fd))),
            _ => Err(Errno::EPROTO),
        }
    }

    /// Opens a node.
    ///
    /// Source: Linux 6.12 `drm_file.c`, `drm_open_helper`.
    fn open(self: &Arc<Self>, minor: u64, flags: u64, is_admin: bool) -> Result<OwnedFd, Errno> {
        let minor = u32::try_from(minor).map_err(|_| Errno::ENODEV)?;
        let device = self.devices.lock().of_minor(minor).cloned().ok_or(Errno::ENODEV)?;
        if flags & u64::from(libc::O_EXCL.unsigned_abs()) != 0 {
            return Err(Errno::EBUSY);
        }
        let kernel =
            if minor == device.place().primary_minor() { device.open_primary(is_admin) } else { device.open() };
        let opened = self.add_file(minor, kernel)?;
        self.traffic.openings.fetch_add(1, Ordering::Relaxed);
        Ok(opened)
    }

    /// Gives a client a descriptor of a file. The files of its lessees get theirs in the same way.
    fn add_file(self: &Arc<Self>, minor: u32, kernel: SimKernel) -> Result<OwnedFd, Errno> {
        let server = Arc::downgrade(self);
        kernel.open_lessees_by(move |lessee| {
            let server = server.upgrade().ok_or(Errno::ENODEV)?;
            Ok(server.add_file(minor, lessee)?)
        });
        self.files.add(&self.layout.name(), minor, kernel)
    }

    /// Writes the files of sysfs anew, for a client that is about to read the file with this inode. With inode 0 its reading wakes no
    /// GPU.
    fn refresh(&self, all: bool, inode: u64) -> Result<(), Errno> {
        let devices = self.devices.lock();
        let directory = self.directory.lock();
        if inode != 0 && devices.present().any(SimDevice::has_runtime_pm) {
            // Each refresh gives the files new inodes.
            let found = directory.as_ref().and_then(|directory| directory.waking_file(inode, &devices));
            let (device, name) = found.ok_or(Errno::ESTALE)?;
            device.before_read(&name);
        }
        let result = directory.as_ref().map_or(Ok(()), |directory| directory.refresh(&devices, all));
        result.map_err(|error| errno_of(&error))
    }

    /// Writes the directories of open files in debugfs anew.
    fn refresh_clients(&self) -> Result<(), Errno> {
        self.files.release();
        let files = self.files.all();
        let of_file = |file: &Arc<OpenFile>| {
            let mut files = sysfs::client_files(&file.kernel);
            if files.is_empty() {
                return None;
            }
            files.push(("proc_info".to_owned(), file.proc_info()));
            let pci = file.kernel.place().pci().to_string();
            Some(ClientDirectory { name: sysfs::client_directory(file.number), pci, files })
        };
        let clients: Vec<_> = files.iter().filter_map(of_file).collect();
        let directory = self.directory.lock();
        let result = directory.as_ref().map_or(Ok(()), |directory| directory.refresh_clients(&clients));
        result.map_err(|error| errno_of(&error))
    }

    /// Resets the GPU of the file of debugfs with this inode.
    fn recover(&self, inode: u64) -> Result<(), Errno> {
        let devices = self.devices.lock();
        let found = self.directory.lock().as_ref().and_then(|directory| directory.reset_by(inode, &devices));
        found.map(|device| device.reset()).ok_or(Errno::ENOENT)
    }

    /// Opens the file of sysfs with this inode for writing.
    fn open_store(&self, inode: u64, pid: libc::pid_t) -> Result<OwnedFd, Errno> {
        let devices = self.devices.lock();
        let found = self.directory.lock().as_ref().and_then(|directory| directory.store(inode, &devices));
        self.files.open_store(found.ok_or(Errno::ENOENT)?, pid)
    }

    /// Does what clients wrote to files of sysfs.
    fn carry_out(&self) {
        self.files.stores.carry_out(|written| {
            let device = written.device.as_ref().ok_or(Errno::ENODEV);
            on_behalf_of(written.pid, || match written.store {
                Store::Setting(setting) => Ok(device?.write_setting(setting, &written.text)?),
                Store::Remove | Store::Rescan if !is_true(&written.text)? => Ok(()),
                Store::Remove => self.remove(device?),
                Store::Rescan => self.rescan(),
                Store::Suspend => self.suspend(&written.text),
                Store::CarveOut => self.choose_carve_out(device?, &written.text),
                Store::Coredump(number) => self.delete_coredump(number),
                Store::DisableCoredumps => self.disable_coredumps(&written.text),
                Store::Alarm => self.set_alarm(|alarm| alarm.write(&written.text, seconds())),
            })
        });
    }

    /// Opens a socket for the kernel's events, which hears those that come from now on.
    fn open_listener(&self) -> Result<OwnedFd, Errno> {
        let last = self.machine.uevents_after(0).last().map_or(0, |event| event.number);
        self.listeners.open(&self.layout.name(), last)
    }

    /// Sends the kernel's events to the clients that listen to them.
    fn tell_listeners(&self) {
        if self.listeners.is_any() {
            self.listeners.tell(&self.machine.uevents_after(0));
        }
    }

    /// Chooses the carve-out of an APU for the next start of the computer.
    fn choose_carve_out(&self, device: &SimDevice, text: &[u8]) -> Result<(), Errno> {
        device.write_carve_out(text)?;
        let directory = self.directory.lock();
        let written = directory.as_ref().map_or(Ok(()), |directory| directory.write_carve_out(device));
        written.map_err(|error| errno_of(&error))
    }

    /// Takes a device out of its slot.
    fn remove(&self, device: &SimDevice) -> Result<(), Errno> {
        let devices = self.devices.lock();
        if device.is_unplugged() {
            return Err(Errno::ENODEV);
        }
        device.unplug();
        let removed = self.directory.lock().as_mut().map_or(Ok(()), |directory| directory.remove(device));
        drop(devices);
        removed.map_err(|error| errno_of(&error))
    }

    /// Suspends the computer with all its GPUs, and wakes it at once: a night takes no time here, and whatever alarm is set rings.
    fn suspend(&self, text: &[u8]) -> Result<(), Errno> {
        check_sleep(text)?;
        let devices: Vec<_> = self.devices.lock().present().cloned().collect();
        // Those that are asleep wake if another one refuses.
        let asleep = devices.iter().map(SimDevice::suspend).collect::<Result<Vec<_>, _>>()?;
        drop(asleep);
        self.set_alarm(|alarm| {
            *alarm = WakeAlarm::default();
            Ok(())
        })
    }

    /// Changes the alarm of the computer's clock, and its file.
    fn set_alarm(&self, change: impl FnOnce(&mut WakeAlarm) -> Result<(), amdgpu_uapi::Errno>) -> Result<(), Errno> {
        let mut alarm = self.alarm.lock();
        change(&mut alarm)?;
        let directory = self.directory.lock();
        let written = directory.as_ref().map_or(Ok(()), |directory| directory.write_alarm(&alarm.text(seconds())));
        written.map_err(|error| errno_of(&error))
    }

    /// Shows core dumps of jobs that have timed out, and deletes old ones.
    fn update_coredumps(&self) {
        let devices = self.devices.lock();
        let mut directory = self.directory.lock();
        if let Some(Err(error)) = directory.as_mut().map(|directory| directory.update_coredumps(&devices)) {
            self.say(&format!("a core dump could not be written: {error}"));
        }
    }

    /// Deletes a core dump.
    fn delete_coredump(&self, number: u64) -> Result<(), Errno> {
        let mut directory = self.directory.lock();
        let deleted = directory.as_mut().map_or(Ok(false), |directory| directory.delete_coredump(number));
        if deleted.map_err(|error| errno_of(&error))? { Ok(()) } else { Err(Errno::ENODEV) }
    }

    /// Ends core dumps for good.
    fn disable_coredumps(&self, text: &[u8]) -> Result<(), Errno> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if text != b"1" {
            return Err(Errno::EINVAL);
        }
        let mut directory = self.directory.lock();
        let done = directory.as_mut().map_or(Ok(()), Directory::disable_coredumps);
        done.map_err(|error| errno_of(&error))
    }

    /// Finds removed devices again.
    fn rescan(&self) -> Result<(), Errno> {
        let mut devices = self.devices.lock();
        let directory = self.directory.lock();
        for device in devices.rescan() {
            if let Some(Err(error)) = directory.as_ref().map(|directory| directory.add(&device)) {
                self.say(&error.to_string());
                return Err(Errno::EIO);
            }
        }
        Ok(())
    }

    /// Returns the live objects, one line for the world and one for each device, with the wake-ups of a device that can sleep.
    fn census(&self) -> String {
        let (open, mapped) = self.files.counts();
        let mut text = format!("open {open} mapped {mapped}\n");
        for device in self.devices.lock().present() {
            let census = device.census();
            let _ = writeln!(
                text,
                "card{} {} files {} bos {} vram {} visible {} gtt {}",
                device.place().primary_minor(),
                device.profile().name,
                census.files,
                census.bos,
                census.vram_bytes,
                census.visible_vram_bytes,
                census.gtt_bytes
            );
            if device.has_runtime_pm() {
                text.push_str(&sleep_of(device));
            }
        }
        text
    }

    /// Returns what the first display shows. The memory of BOs is reached on threads of the server alone, which have its
    /// descriptors.
    fn picture(&self) -> Result<(u64, Option<OwnedFd>), Errno> {
        let device = self.devices.lock().present().next().cloned();
        let shown = device.and_then(|device| device.scanned_out()).ok_or(Errno::ENODATA)?;
        let size = u64::from(shown.width) << 32 | u64::from(shown.height);
        Ok((size, Some(text_file(c"amdgpu-sim picture", &shown.rgba)?)))
    }

    fn print_complaints(&self) {
        let complaints = self.devices.lock().new_complaints();
        for complaint in &complaints {
            self.say(complaint);
        }
    }

    /// Writes a line to standard error, and ignores a failure.
    #[expect(clippy::unused_self, reason = "only a server has something to say")]
    fn say(&self, what: &str) {
        let _ = writeln!(std::io::stderr(), "amdgpu-sim: {what}");
    }
}

/// Returns whether a device is suspended and what woke it before, a line each.
fn sleep_of(device: &SimDevice) -> String {
    let (card, woken) = (device.place().primary_minor(), device.wake_ups());
    let status = if device.is_suspended() { "suspended" } else { "active" };
    let first = format!("card{card} {status} woken {}\n", woken.count);
    woken.latest.iter().fold(first, |text, wake_up| text + &format!("card{card} woken by {wake_up}\n"))
}

/// The driver's part of a file's fdinfo: who it is, and what it has and does.
fn fdinfo(file: &OpenFile) -> String {
    file.kernel.fdinfo_as(file.number, &file.kernel.place().pci().to_string())
}

/// Returns the time of the computer's clock: seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}

thread_local! {
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

/// Returns `true` if the calling thread belongs to a server. In a process that contains its own server, the preload library shows
/// such a thread the real descriptors instead of nodes, because two open files of a node must not look like the same file.
pub fn is_server_thread() -> bool {
    SERVES.get()
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), WorldError> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        SERVES.set(true);
        work();
    });
    let errno = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EAGAIN));
    spawned.map(drop).map_err(|error| WorldError::Start { what: "start a thread", errno: errno(error) })
}

/// Returns a listening socket. It does not block, because a client may be gone again when it is accepted.
fn listen_at(address: &UnixAddr) -> Result<OwnedFd, Errno> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let listener = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
    bind(listener.as_raw_fd(), address)?;
    listen(&listener, Backlog::MAXCONN)?;
    Ok(listener)
}

/// Returns the word for the result of a request. An errno without a name in user space, such as ENOTSUPP (524), becomes a negative word,
/// as the kernel returns it ([`Answer::returned`](crate::Answer::returned)).
fn returned(result: Result<i32, amdgpu_uapi::Errno>) -> Result<u64, Errno> {
    match result {
        Ok(value) => Ok(value.unsigned_abs().into()),
        Err(errno) => match Errno::from(errno) {
            Errno::UnknownErrno => Ok(i64::from(-errno.raw()).cast_unsigned()),
            named => Err(named),
        },
    }
}
