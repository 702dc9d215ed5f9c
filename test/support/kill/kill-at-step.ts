import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

/** The calls that change a file system, by which a process leaves something half done when it ends between two of them. */
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

/** Those of them by which a file comes to say something else; not the flushes, and of locks only how they are given back. */
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
 * From now on this process ends by SIGKILL at its `n`-th step: before a call that changes the file system, or in the middle
 * of a write. Holds for whatever imports `node:fs`, also for what did so before.
 * @param isStep which calls count; all by default
 */
export function stopAt(n: number, isStep: (call: string) => boolean = () => true): void {
  let step = 0;
  const next = (call: string): boolean => {
    if (isStep(call)) step += 1;
    return isStep(call) && step === n;
  };
  const end = (): void => {
    process.kill(process.pid, "SIGKILL");
    // The signal is on its way; nothing may happen before it is there.
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
    if (makes(args[1]) && next("openSync")) end();
    return open(...args);
  };
  const write = fs.writeSync;
  calls.writeSync = (...args) => {
    const [fd, bytes] = args as [number, Uint8Array];
    if (next("writeSync")) end();
    if (bytes instanceof Uint8Array && bytes.length > 1 && next("writeSync")) {
      // No half, which of two lines of one length would be the first.
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

/** Whether a file is made or emptied by these flags. */
function makes(flags: unknown): boolean {
  return typeof flags === "number" ? (flags & fs.constants.O_CREAT) !== 0 : /[wa]/.test(String(flags));
}

/** As the real one does it, call by call, since that one makes its calls where nobody can stop it. */
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
