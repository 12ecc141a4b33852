//! Contexts, submissions, fences and software semaphores.

mod chunks;
mod context;
mod fence;
mod fences;
mod priority;
mod raw;
mod ring;
mod semaphore;
mod semaphores;
mod submit;
