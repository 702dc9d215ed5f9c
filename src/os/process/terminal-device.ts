import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { WriteStream } from "node:tty";

/** The size of a terminal, in cells. */
interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Returns the size of another terminal. Opens it only briefly, and never as the controlling terminal of this process.
 * @param path of its device
 * @returns undefined if it is gone, or belongs to another user
 */
export function terminalSizeOf(path: string): TerminalSize | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    // The caller keeps the last known size.
    return undefined;
  }
  let stream: WriteStream;
  try {
    stream = new WriteStream(fd);
  } catch {
    closeSync(fd);
    return undefined;
  }
  const { columns, rows } = stream;
  stream.destroy();
  return columns > 0 && rows > 0 ? { columns, rows } : undefined;
}

/** Returns the path of the terminal at a file descriptor of this process; undefined if it is not a terminal. */
export function terminalPath(fd: number): string | undefined {
  const { status, stdout } = spawnSync("tty", [], { stdio: [fd, "pipe", "ignore"], encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}
