import { StringDecoder } from "node:string_decoder";
import { systemClock } from "../os/clock.ts";
import { fifoCopy } from "../os/files/fifo-copy.ts";
import { identityOf, livenessOf } from "../os/process/identity.ts";
import { terminalSizeOf } from "../os/process/terminal-device.ts";
import { CastWriter } from "./cast-writer.ts";
import { endSequence } from "./end-sequence.ts";
import { followMessages } from "./message-markers.ts";
import type { Recording } from "./recording.ts";
import { followStates } from "./state-markers.ts";

/** `why` is undefined if its agent has ended. */
export type RecordingEnd = "pane ended" | { readonly why: string | undefined };

/**
 * Records the output of a pane until it ends. Wakes only for output, for messages and for changes of state.
 * @param input the bytes that the pane's programs print
 * @returns how the recording ended: with its pane, with its agent (no reason), or by a failure
 * @throws TeamError PERMISSION_DENIED; a system error if the file cannot be opened
 */
export async function recordPane(
  input: AsyncIterable<Uint8Array>,
  recording: Recording,
  maxBytes?: number,
): Promise<RecordingEnd> {
  let end: RecordingEnd = "pane ended";
  const writer = new CastWriter({
    path: recording.path,
    elapsedMs: Math.max(0, systemClock.now() - recording.startedAt),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    onEnd: (why) => {
      end = { why };
    },
  });
  const mark = (label: string): void => writer.write("m", label);
  const messages = followMessages(recording, mark);
  const stopStates = followStates(recording.status, mark);
  const output = outputOf(recording);
  const copy = recording.copy === undefined ? undefined : fifoCopy(recording.copy);
  let { size } = recording;
  try {
    for await (const bytes of input) {
      copy?.write(bytes);
      messages.poll();
      const now = terminalSizeOf(recording.tty);
      // Before the output: a program prints for the new size only after it has read it.
      if (now !== undefined && `${now.columns}x${now.rows}` !== size) {
        size = `${now.columns}x${now.rows}`;
        writer.write("r", size);
      }
      const { text, isOver } = output.push(bytes);
      writer.write("o", text);
      if (isOver) end = { why: undefined };
      if (end !== "pane ended") break;
    }
    writer.write("o", output.end());
  } finally {
    copy?.close();
    stopStates();
    messages.close();
    writer.close();
  }
  return end;
}

interface PaneText {
  /** Returns the text to record, and whether the recording is over. */
  push(bytes: Uint8Array): { readonly text: string; readonly isOver: boolean };
  /** Returns the rest of the text, at the end of the output. */
  end(): string;
}

/**
 * Decodes the output. In a user's pane, the recording ends with the agent: at the sequence that it prints last, or if its process
 * is gone.
 */
function outputOf({ owner }: Recording): PaneText {
  const decoder = new StringDecoder("utf8");
  if (owner === undefined) {
    return {
      push: (bytes) => ({ text: decoder.write(bytes as Buffer), isOver: false }),
      end: () => decoder.end(),
    };
  }
  const process = identityOf(owner.pid);
  const last = endSequence(owner.word);
  let held = "";
  return {
    push(bytes) {
      const text = held + decoder.write(bytes as Buffer);
      held = "";
      const at = text.indexOf(last);
      if (at >= 0) return { text: text.slice(0, at), isOver: true };
      // The agent was killed, so this is output of the pane's shell.
      if (process === undefined || livenessOf(process) === "dead") return { text: "", isOver: true };
      const begun = startedLength(text, last);
      held = text.slice(text.length - begun);
      return { text: text.slice(0, text.length - begun), isOver: false };
    },
    end: () => held + decoder.end(),
  };
}

/** Returns how many characters at the end of a text are the start of a sequence. */
function startedLength(text: string, sequence: string): number {
  let length = Math.min(text.length, sequence.length - 1);
  while (length > 0 && !text.endsWith(sequence.slice(0, length))) length -= 1;
  return length;
}
