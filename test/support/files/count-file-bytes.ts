import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Bytes that a process read from and wrote to files. */
export interface FileTraffic {
  readonly read: number;
  readonly written: number;
}

/** Counts the bytes that `work` reads and writes through `node:fs`; the calls themselves work as usual. */
export async function countBytes(work: () => unknown): Promise<FileTraffic> {
  const { readSync, readFileSync, writeSync, writeFileSync } = fs;
  const traffic = { read: 0, written: 0 };
  const patched = {
    readSync: (...args: Parameters<typeof readSync>) => counted("read", readSync(...args)),
    readFileSync: (...args: Parameters<typeof readFileSync>) => {
      const content = readFileSync(...args);
      counted("read", Buffer.byteLength(content));
      return content;
    },
    writeSync: (...args: Parameters<typeof writeSync>) => counted("written", writeSync(...args)),
    writeFileSync: (...args: Parameters<typeof writeFileSync>) => {
      counted("written", Buffer.byteLength(args[1] as string | Uint8Array));
      writeFileSync(...args);
    },
  };
  function counted(way: keyof FileTraffic, bytes: number): number {
    traffic[way] += bytes;
    return bytes;
  }
  Object.assign(fs, patched);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(fs, { readSync, readFileSync, writeSync, writeFileSync });
    syncBuiltinESMExports();
  }
  return traffic;
}
