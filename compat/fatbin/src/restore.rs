//! Compressed entries, restored.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::{Compression, Error};

impl Compression {
    /// The maximum number of bytes that one compressed byte can stand for. LZ4 counts up to 255
    /// with each byte; a zstd block has at least 4 bytes and gives up to 128 KiB.
    fn most_per_byte(self) -> u64 {
        match self {
            Self::Lz4 => 255,
            Self::Zstd => 128 << 10,
        }
    }

    /// The `stated` bytes that `compressed` restores to.
    pub(crate) fn restore(self, compressed: &[u8], stated: u64) -> Result<Vec<u8>, Error> {
        let n_compressed = compressed.len() as u64;
        let wrong_size = || Error::WrongSize {
            compression: self,
            compressed: n_compressed,
            stated,
        };
        if stated > n_compressed.saturating_mul(self.most_per_byte()) {
            return Err(wrong_size());
        }
        let n_bytes = usize::try_from(stated).map_err(|_| wrong_size())?;
        let restored = match self {
            Self::Lz4 => lz4(compressed, n_bytes),
            Self::Zstd => zstd(compressed, stated),
        };
        let restored = restored.map_err(|reason| Error::Corrupt {
            compression: self,
            reason,
        })?;
        if restored.len() == n_bytes {
            Ok(restored)
        } else {
            Err(wrong_size())
        }
    }
}

/// At most `n_bytes`.
fn lz4(compressed: &[u8], n_bytes: usize) -> Result<Vec<u8>, String> {
    let mut restored = vec![0; n_bytes];
    let n_restored = lz4_flex::block::decompress_into(compressed, &mut restored)
        .map_err(|error| error.to_string())?;
    restored.truncate(n_restored);
    Ok(restored)
}

/// At most one byte more than stated, which shows that there are more. Memory is allocated as bytes
/// arrive.
fn zstd(compressed: &[u8], stated: u64) -> Result<Vec<u8>, String> {
    let decoder = StreamingDecoder::new_with_max_window_size(compressed, stated.max(8 << 20))
        .map_err(|error| error.to_string())?;
    let mut restored = Vec::new();
    decoder
        .take(stated.saturating_add(1))
        .read_to_end(&mut restored)
        .map_err(|error| error.to_string())?;
    Ok(restored)
}
