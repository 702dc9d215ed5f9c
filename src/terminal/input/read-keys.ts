import { StringDecoder } from "node:string_decoder";
import type { ReadStream } from "node:tty";
import { after } from "../../os/clock.ts";
import { BRACKETED_PASTE_OFF, BRACKETED_PASTE_ON } from "../../text/extended-keys.ts";
import { ESCAPE_MS } from "./key-decoder.ts";

/** Takes the input of a terminal in raw mode. */
export interface KeyHandler {
  push(text: string): void;
  /** Whether an escape is held that may begin a key sequence. */
  readonly isPending: boolean;
  /** No input followed: a held escape is the Esc key. */
  settle(): void;
}

/**
 * Reads keys from this process's terminal, in raw mode, until the returned function is called. Then restores the terminal.
 * @param control sends a control sequence to the terminal
 */
export function readKeys(handler: KeyHandler, control: (sequence: string) => void): () => void {
  const { stdin } = process;
  const decoder = new StringDecoder("utf8");
  let cancelSettle = (): void => undefined;
  const onData = (bytes: Buffer): void => {
    cancelSettle();
    handler.push(decoder.write(bytes));
    if (handler.isPending) cancelSettle = after(ESCAPE_MS, () => handler.settle());
  };
  const take = (): void => {
    (stdin as ReadStream).setRawMode(true);
    control(BRACKETED_PASTE_ON);
  };
  const restore = (): void => {
    control(BRACKETED_PASTE_OFF);
    (stdin as ReadStream).setRawMode(false);
  };
  // A closed terminal is reported by SIGHUP.
  stdin.on("error", () => undefined);
  stdin.on("data", onData);
  stdin.resume();
  process.on("SIGCONT", take);
  process.on("exit", restore);
  take();
  return () => {
    cancelSettle();
    process.off("SIGCONT", take);
    process.off("exit", restore);
    stdin.off("data", onData);
    stdin.pause();
    restore();
  };
}
