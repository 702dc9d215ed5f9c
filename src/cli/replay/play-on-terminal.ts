import { Player, type PlayerState } from "../../casts/player.ts";
import { RESET_OUTPUT } from "../../casts/safe-output.ts";
import type { Timeline } from "../../casts/timeline.ts";
import { EXIT } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { keyDecoder, type Pressed } from "../../terminal/input/key-decoder.ts";
import { type KeyHandler, readKeys } from "../../terminal/input/read-keys.ts";
import type { Io } from "../../terminal/io.ts";
import { visible } from "../../terminal/output.ts";
import { clockTime } from "./list-casts.ts";

interface PlayOptions {
  readonly speed: number;
  /** Seconds. */
  readonly idleLimit: number;
  /** Index of the marker at which to begin. */
  readonly from: number | undefined;
}

/** Rows of a terminal that does not report its size. */
const ROWS = 24;
/** Saves the title of the terminal, and restores it. */
const [SAVE_TITLE, RESTORE_TITLE] = ["\x1b[22;2t", "\x1b[23;2t"];

/**
 * Plays a timeline on the terminal, with keys. The terminal's earlier content moves into its scrollback; the last screen stays. The title of
 * the terminal shows the time and the last marker, because the screen belongs to the recording.
 */
export async function playOnTerminal(io: Io, timeline: Timeline, options: PlayOptions): Promise<number> {
  const signal = io.interruption();
  const total = clockTime(timeline.length);
  const showState = ({ isPaused, time, label }: PlayerState): void => {
    const parts = [isPaused ? "paused" : "playing", `${clockTime(time)} of ${total}`, label ?? ""];
    io.out(`\x1b]2;${visible(parts.filter((part) => part !== "").join(" · "))}\x07`);
  };
  const player = new Player(timeline, { ...options, pause, out: io.out, onChange: showState });
  let isInterrupted = false;
  const keys = replayKeys(player, () => {
    isInterrupted = true;
  });
  const rows = io.rows ?? ROWS;
  const close = (): void => io.out(`${RESET_OUTPUT}\x1b[${rows};1H\r\n${RESTORE_TITLE}`);
  io.out(`${SAVE_TITLE}${"\n".repeat(rows)}\x1b[H\x1b[2J`);
  const stopKeys = readKeys(keys, (sequence) => io.out(sequence));
  const stop = (): void => player.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await player.play();
  } finally {
    signal.removeEventListener("abort", stop);
    stopKeys();
    close();
  }
  return isInterrupted || signal.aborted ? EXIT.interrupted : EXIT.done;
}

function replayKeys(player: Player, interrupt: () => void): KeyHandler {
  const decoder = keyDecoder();
  const act = (pressed: readonly Pressed[]): void => {
    for (const key of pressed) {
      if (key.kind === "signal") interrupt();
      if (key.kind === "signal" || key.kind === "end-of-input" || key.kind === "escape") player.stop();
      else if (key.kind === "text" && !key.pasted) for (const char of key.text) KEYS[char]?.(player);
    }
  };
  return {
    push: (text) => act(decoder.push(text)),
    get isPending() {
      return decoder.isPending;
    },
    settle: () => act(decoder.settle()),
  };
}

const KEYS: Readonly<Record<string, (player: Player) => void>> = {
  " ": (player) => player.togglePause(),
  ".": (player) => player.step(),
  "]": (player) => player.nextMarker(),
  "[": (player) => player.previousMarker(),
  q: (player) => player.stop(),
};
