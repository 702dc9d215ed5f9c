import type { CastMarker } from "../../casts/read-cast.ts";
import { timelineOf } from "../../casts/timeline.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { amountOption } from "../option-values.ts";
import { findCasts } from "../replay/find-casts.ts";
import { listCasts, listMarkers, noteProblems } from "../replay/list-casts.ts";

/** Seconds to which a pause is shortened by default. */
const IDLE_LIMIT = 2;

export const command = defineCommand({
  name: "replay",
  summary: "Play the recorded screen of an agent (`run --rec`) in this terminal",
  args: [
    {
      name: "agent|file.cast",
      summary:
        "an agent, whose recordings play one after the other, or a file (default: list all recordings)",
      optional: true,
    },
  ],
  options: {
    speed: { value: "factor", summary: "play faster or slower (default: 1)" },
    idleLimit: { value: "seconds", summary: `shorten longer pauses to this (default: ${IDLE_LIMIT})` },
    toMarker: { value: "marker", summary: "begin at a marker: its number, or a part of its label" },
    markers: { summary: "list the markers: the messages to the agent, and its states" },
  },
  examples: [
    "teams replay",
    "teams replay reviewer --speed 4",
    "teams replay casts/team-lead.cast --to-marker 3",
  ],
  notes:
    "Keys while it plays: space pauses, . shows the next output, ] and [ go to the next and the previous marker, q or Esc ends.\n" +
    "Without a terminal, and with --json, the recordings are listed.\n" +
    "Files from elsewhere are safe to play: only output that draws on the screen is shown.",
  async run({ args, options, io, out }) {
    const speed = amountOption(options.speed, "--speed") ?? 1;
    const idleLimit = secondsOf(options.idleLimit);
    const word = args["agent|file.cast"];
    const { casts, problems } = findCasts(io, options, word);
    const timeline = timelineOf(casts);
    if (options.markers) {
      requireOne(word, casts.length);
      listMarkers(out, timeline.markers);
      noteProblems(out, casts, problems);
      return EXIT.done;
    }
    const from = options.toMarker === undefined ? undefined : markerOf(options.toMarker, timeline.markers);
    if (word === undefined || out.json || !io.terminal.stdin || !io.terminal.stdout) {
      listCasts(out, casts, problems);
      return EXIT.done;
    }
    noteProblems(out, casts, problems);
    const { columns, rows } = timeline.size;
    if (columns > (io.columns ?? columns) || rows > (io.rows ?? rows))
      out.note(
        line`The recording is ${columns}x${rows}, and this terminal is smaller: rows and columns will overlap.`,
      );
    const { playOnTerminal } = await import("../replay/play-on-terminal.ts");
    return playOnTerminal(io, timeline, { speed, idleLimit, from });
  },
});

/** @throws TeamError INVALID_INPUT */
function secondsOf(value: string | undefined): number {
  if (value === undefined) return IDLE_LIMIT;
  if (/^\d{1,6}(\.\d{1,6})?$/.test(value)) return Number(value);
  throw new TeamError("INVALID_INPUT", `--idle-limit cannot be ${JSON.stringify(value)}.`, {
    hint: "Give a number of seconds: --idle-limit 0.5",
  });
}

/** @throws TeamError INVALID_INPUT */
function requireOne(word: string | undefined, count: number): void {
  if (word !== undefined || count === 1) return;
  throw new TeamError("INVALID_INPUT", "--markers needs an agent or a file.", {
    hint: "List the recordings: teams replay --json",
  });
}

/** Returns the index of a marker. @throws TeamError INVALID_INPUT */
function markerOf(word: string, markers: readonly CastMarker[]): number {
  const index = /^[1-9]\d{0,5}$/.test(word)
    ? Number(word) - 1
    : markers.findIndex(({ label }) => label.toLowerCase().includes(word.toLowerCase()));
  if (index >= 0 && index < markers.length) return index;
  throw new TeamError("INVALID_INPUT", `There is no marker ${JSON.stringify(word)}.`, {
    hint: "List the markers: teams replay <agent> --markers",
  });
}
