import { sha256 as digest } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/**
 * Returns the SHA-256 of a text in UTF-8 as hexadecimal digits. For texts that every command hashes at its start: loading
 * `node:crypto` costs a cold `teams send` 5 %. Code that runs later uses `node:crypto`.
 */
export function sha256(text: string): string {
  return bytesToHex(digest(utf8ToBytes(text)));
}
