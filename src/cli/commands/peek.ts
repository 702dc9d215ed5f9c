import { EXIT, TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { optionWords } from "../../os/shell-words.ts";
import { stripControls } from "../../os/terminal-text.ts";
import { readPlace } from "../../team/records.ts";
import { defineCommand } from "../command.ts";
import { leadContext } from "../context.ts";
import { openAddress } from "../team.ts";
import { countOption } from "../text.ts";

/** A screen of the usual size. */
const LINES = 40;
/** Milliseconds between two looks of `-f`: a pane does not say when it changes, and somebody is watching. */
const LOOK_AGAIN = 1_000;

export const command = defineCommand({
  name: "peek",
  summary: "Print what a teammate's screen shows, without going there",
  args: [{ name: "agent", summary: "whose screen" }],
  options: {
    lines: { short: "n", value: "lines", summary: `how many lines from its end; ${LINES} by default` },
    follow: { short: "f", summary: "print it again when it changes" },
  },
  examples: ["teams peek reviewer", "teams peek reviewer -n 200", "teams peek tester -f"],
  async run(call) {
    const { args, options, io, out } = call;
    const open = openAddress(io.env, options, args.agent);
    const { name } = open.member;
    const ctx = await leadContext(call, open);
    const count = countOption(options.lines, "-n") ?? LINES;
    const look = async (): Promise<readonly string[]> => {
      const place = readPlace(open.ref, name);
      const lines =
        place === undefined ? undefined : await ctx.backends.of(place.backend)?.capture(place, count);
      if (lines !== undefined) return lines;
      throw new TeamError(
        "RECIPIENT_INACTIVE",
        `${name} has no screen now: it does not run in a place of ours.`,
        {
          hint: `What is known of it: teams status ${optionWords("--team", open.ref.team)}`,
        },
      );
    };
    if (!options.follow) {
      const lines = await look();
      out.answer({ agent: name, lines }, () => stripControls(lines.join("\n")));
      return EXIT.done;
    }
    const signal = io.interruption();
    let before = "";
    while (!signal.aborted) {
      const lines = await look();
      const screen = stripControls(lines.join("\n"));
      if (screen !== before) {
        out.item({ agent: name, lines }, () =>
          io.terminal.stdout ? `\x1b[H\x1b[2J${screen}` : `${screen}\n`,
        );
      }
      before = screen;
      await pause(LOOK_AGAIN, signal);
    }
    return EXIT.interrupted;
  },
});
