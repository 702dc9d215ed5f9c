import { EXIT } from "../../errors.ts";
import { follow } from "../../operations/follow-team.ts";
import { systemClock } from "../../os/clock.ts";
import { namedTeam, openTeam } from "../../runtime/select-team.ts";
import { EVENT_TYPES, type TeamEvent, teamEvent } from "../../schema/event.ts";
import { parseJsonLine } from "../../store/jsonl.ts";
import { openLineFeed } from "../../store/tail.ts";
import { assertTeam } from "../../team/config/team-lock.ts";
import { rotatedPath } from "../../telemetry/event-log.ts";
import { eventText } from "../../terminal/event-text.ts";
import { defineCommand } from "../command.ts";
import { timeOption } from "../option-values.ts";

export const command = defineCommand({
  name: "events",
  summary: "Show what happened in a team: starts, turns, model calls, tasks, messages, permissions",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    follow: { short: "f", summary: "keep printing new events" },
    type: { value: "type", summary: "only events of this type", choices: EVENT_TYPES, many: true },
    since: { value: "time", summary: "only events after this time, or from the last <time> seconds" },
  },
  examples: ["teams events", "teams events review -f --type model", "teams events --json --type task"],
  notes:
    "Events stay on this machine, in events.jsonl in the team's directory. They contain ids, names, sizes, tokens and times, but no " +
    "text of a message, a model or a tool. The newest 8 to 16 MB are kept.",
  async run({ args, options, io, out }) {
    const { ref } = openTeam(io.env, { ...options, team: namedTeam(io.env, options, args.name) });
    const since = timeOption(options.since, "since", systemClock.now());
    const isWanted = ({ type, ts }: TeamEvent): boolean =>
      (options.type.length === 0 || options.type.some((one) => one === type)) &&
      (since === undefined || Date.parse(ts) >= since);
    const feed = openLineFeed(() => ref.paths.events, parseJsonLine(teamEvent), {
      older: () => rotatedPath(ref.paths.events),
    });
    if (!options.follow) {
      const found = feed.poll().filter(isWanted);
      out.answer({ events: found }, () =>
        found.length === 0 ? "No events." : found.map((event) => eventText(event, out)).join("\n"),
      );
      return EXIT.done;
    }
    await follow(
      ref,
      () => {
        for (const event of feed.poll()) if (isWanted(event)) out.item(event, () => eventText(event, out));
        assertTeam(ref);
        return false;
      },
      { signal: io.interruption() },
    );
    return EXIT.interrupted;
  },
});
