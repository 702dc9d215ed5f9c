import { extname } from "node:path";
import { readFrom } from "../../os/files/fs.ts";
import { type FileLook, lookAt, readUnsized } from "../../os/files/user-files.ts";

/** Bytes of a file that tools read whole; a larger one is for Grep or Bash. */
const MAX_FILE = 32 * 1024 * 1024;
/** Bytes of one that says of itself that it is empty, as those of /proc do. */
const MAX_UNSIZED = 256 * 1024;
/** Bytes at the start in which a NUL tells that a file is no text. */
const SNIFFED = 8192;

/** What a PDF begins with, which may go on for long without a NUL. */
const PDF = Buffer.from("%PDF-");

const IMAGES: ReadonlySet<string> = new Set(
  ".png .jpg .jpeg .gif .webp .bmp .ico .tif .tiff .heic .avif .psd".split(" "),
);

type TextFile =
  | { readonly text: string; readonly look: FileLook; readonly flaw?: undefined }
  /** Why it is not read, as one sentence. */
  | { readonly flaw: string; readonly missing: boolean };

/** A file's text, or why it has none: pipes and devices are never opened, pictures and other bytes are no text. */
export function readTextFile(path: string): TextFile {
  const look = lookAt(path);
  const flaw = flawOf(path, look);
  if (flaw !== undefined) return { flaw, missing: look.kind === "missing" };
  const bytes = look.size === 0 ? readUnsized(path, MAX_UNSIZED) : readFrom(path, 0);
  if (bytes === undefined) return { flaw: `${path} does not exist.`, missing: true };
  if (bytes.subarray(0, SNIFFED).includes(0) || bytes.subarray(0, PDF.length).equals(PDF)) {
    return { flaw: `${path} is a binary file; only text can be read.`, missing: false };
  }
  return { text: bytes.toString("utf8"), look };
}

function flawOf(path: string, look: FileLook): string | undefined {
  if (look.kind === "missing") return `${path} does not exist.`;
  if (look.kind === "directory") return `${path} is a directory; use Glob to see what is in it.`;
  if (look.kind === "special") return `${path} is not a regular file; it is not opened.`;
  if (IMAGES.has(extname(path).toLowerCase())) return `${path} is an image; only text can be read.`;
  if (look.size > MAX_FILE) {
    return `${path} has ${look.size} bytes, more than can be read at once (${MAX_FILE}); use Grep, or Bash for a part of it.`;
  }
  return undefined;
}
