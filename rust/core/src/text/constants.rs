//! The texts that the library writes or knows: `_data/texts.json`. They are here for the modules of several layers.

include!(concat!(env!("OUT_DIR"), "/texts.rs"));
