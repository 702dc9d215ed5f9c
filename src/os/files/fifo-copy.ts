import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { isOwnFifo, NO_READER } from "./fifo.ts";

/** Copies bytes into a FIFO of this user while a process reads it. */
interface FifoCopy {
  /** Never waits: bytes that do not fit, or that no process reads, are dropped. */
  write(bytes: Uint8Array): void;
  close(): void;
}

/** Opens the FIFO when there is something to write; its reader may come and go. */
export function fifoCopy(path: string): FifoCopy {
  let fd: number | undefined;
  const close = (): void => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  const open = (): number | undefined => {
    try {
      const opened = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
      if (isOwnFifo(fstatSync(opened))) return opened;
      closeSync(opened);
    } catch (error) {
      if (!NO_READER.has(systemCode(error) ?? "")) throw error;
    }
    return undefined;
  };
  return {
    write(bytes) {
      fd ??= open();
      if (fd === undefined) return;
      try {
        writeSync(fd, bytes);
      } catch (error) {
        // EAGAIN: the FIFO is full. Any other error: its reader has ended.
        if (systemCode(error) !== "EAGAIN") close();
      }
    },
    close,
  };
}
