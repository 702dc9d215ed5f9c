import { isUtf8 } from "node:buffer";
import { extname } from "node:path";
import { readFrom } from "../../os/files/fs.ts";
import { type PathStat, pathStat, readUnsized } from "../../os/files/user-files.ts";
import { BYTE_ORDER_MARK, withoutMark } from "../../text/characters/byte-order-mark.ts";

/** Maximum bytes of a file that tools read whole; larger files need Grep or Bash. */
const MAX_FILE = 32 * 1024 * 1024;
/** Maximum bytes of a file with the reported size 0, such as the files in /proc. */
const MAX_UNSIZED = 256 * 1024;
/** Bytes at the start that are searched for a NUL, the sign of a binary file. */
const SNIFFED = 8192;

/** The beginning of a PDF, which may have no NUL in its first bytes. */
const PDF = Buffer.from("%PDF-");

const IMAGES: ReadonlySet<string> = new Set(
  ".png .jpg .jpeg .gif .webp .bmp .ico .tif .tiff .heic .avif .psd".split(" "),
);

type TextFile =
  | {
      /** Without its byte order mark. */
      readonly text: string;
      /** The byte order mark that the file begins with; empty without one. */
      readonly mark: string;
      /** False if the file would change by writing its text. */
      readonly isUtf8: boolean;
      readonly stat: PathStat;
      readonly problem?: undefined;
    }
  /** Why the file cannot be read, as one sentence. */
  | { readonly problem: string; readonly missing: boolean };

/** Reads a text file, or returns why it cannot. Pipes and devices are never opened; images and binary files are refused. */
export function readTextFile(path: string | Buffer): TextFile {
  const stat = pathStat(path);
  const problem = fileProblem(path, stat);
  if (problem !== undefined) return { problem, missing: stat.kind === "missing" };
  const bytes = stat.size === 0 ? readUnsized(path, MAX_UNSIZED) : readFrom(path, 0);
  if (bytes === undefined) return { problem: `${path} does not exist.`, missing: true };
  if (bytes.subarray(0, SNIFFED).includes(0) || bytes.subarray(0, PDF.length).equals(PDF)) {
    return { problem: `${path} is a binary file; only text can be read.`, missing: false };
  }
  const all = bytes.toString("utf8");
  const text = withoutMark(all);
  return { text, mark: text === all ? "" : BYTE_ORDER_MARK, isUtf8: isUtf8(bytes), stat };
}

function fileProblem(path: string | Buffer, stat: PathStat): string | undefined {
  if (stat.kind === "missing") return `${path} does not exist.`;
  if (stat.kind === "directory") return `${path} is a directory; use Glob to see what is in it.`;
  if (stat.kind === "special") return `${path} is not a regular file; it was not opened.`;
  if (IMAGES.has(extname(String(path)).toLowerCase())) return `${path} is an image; only text can be read.`;
  if (stat.size > MAX_FILE) {
    return `${path} has ${stat.size} bytes, more than the maximum of ${MAX_FILE}; use Grep, or read a part of it with Bash.`;
  }
  return undefined;
}
