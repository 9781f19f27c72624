//! The names of speakers in all formats.

include!(concat!(env!("OUT_DIR"), "/roles.rs"));
