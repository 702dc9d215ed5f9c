import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

/** The calls that change a file system. A process that ends between two of them leaves a change half done. */
const CHANGING = [
  "chmodSync",
  "fchmodSync",
  "fsyncSync",
  "linkSync",
  "mkdirSync",
  "renameSync",
  "rmdirSync",
  "symlinkSync",
  "truncateSync",
  "unlinkSync",
  "utimesSync",
] as const;

/**
 * Selects the calls that change what a file contains; excludes flushes, and all calls on locks except the
 * release.
 */
export function changesContent(call: string): boolean {
  return ["writeSync", "renameSync", "linkSync", "unlinkSync"].includes(call);
}

interface Flags {
  readonly flag?: string;
  readonly mode?: number;
  readonly flush?: boolean;
}

type Any = (...args: unknown[]) => unknown;
const calls = fs as unknown as Record<string, Any>;

/**
 * Kills this process with SIGKILL at its `n`-th step: before a call that changes the file system, or during a write.
 * Applies to every module that imports `node:fs`, also before this call.
 * @param isStep selects the calls that count; all by default
 */
export function killAtStep(n: number, isStep: (call: string) => boolean = () => true): void {
  let step = 0;
  const next = (call: string): boolean => {
    if (isStep(call)) step += 1;
    return isStep(call) && step === n;
  };
  const end = (): void => {
    process.kill(process.pid, "SIGKILL");
    // The signal is asynchronous: block until it arrives.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  for (const name of CHANGING) {
    const original = calls[name] as Any;
    calls[name] = (...args) => {
      if (next(name)) end();
      return original(...args);
    };
  }
  const open = calls.openSync as Any;
  calls.openSync = (...args) => {
    if (createsOrTruncates(args[1]) && next("openSync")) end();
    return open(...args);
  };
  const write = fs.writeSync;
  calls.writeSync = (...args) => {
    const [fd, bytes] = args as [number, Uint8Array];
    if (next("writeSync")) end();
    if (bytes instanceof Uint8Array && bytes.length > 1 && next("writeSync")) {
      // A third, because half of two equally long lines would be exactly the first line.
      write(fd, bytes, 0, Math.ceil(bytes.length / 3));
      end();
    }
    return write(...(args as Parameters<typeof fs.writeSync>));
  };
  calls.writeFileSync = (file, content, options) => {
    const { flag = "w", mode, flush } = (options ?? {}) as Flags;
    const fd = typeof file === "number" ? file : fs.openSync(file as string, flag, mode);
    fs.writeSync(fd, Buffer.from(content as string));
    if (flush) fs.fsyncSync(fd);
    if (fd !== file) fs.closeSync(fd);
  };
  calls.rmSync = (path, options) => removeStepwise(path as string, options as fs.RmOptions);
  syncBuiltinESMExports();
}

/** Returns whether these flags create or truncate a file. */
function createsOrTruncates(flags: unknown): boolean {
  return typeof flags === "number" ? (flags & fs.constants.O_CREAT) !== 0 : /[wa]/.test(String(flags));
}

/** Removes like the real rmSync, but call by call: the real one cannot be interrupted. */
function removeStepwise(path: string, options: fs.RmOptions = {}): void {
  const entry = fs.lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) {
    if (options.force) return;
    throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  }
  if (entry.isDirectory()) {
    for (const name of fs.readdirSync(path)) removeStepwise(join(path, name), options);
    fs.rmdirSync(path);
  } else {
    fs.unlinkSync(path);
  }
}
