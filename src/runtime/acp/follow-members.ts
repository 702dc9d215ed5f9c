import { transcriptLine } from "../../agent/conversation/transcript.ts";
import { fileSize } from "../../os/files/fs.ts";
import { startOfLastLines } from "../../os/files/lines.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { parseJsonLine, readTextLines } from "../../store/jsonl.ts";
import { type LineFeed, openLineFeed } from "../../store/tail.ts";
import { readTeam } from "../../team/config/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import type { ShowFact } from "./facts.ts";
import { MAX_REPLAYED } from "./limits.ts";
import { leadView, teammateView } from "./member-view.ts";

const parse = parseJsonLine(transcriptLine);
type Line = ReturnType<typeof parse>[number];

interface FollowedMember {
  readonly transcript: string;
  readonly feed: LineFeed<Line>;
  readonly log: (lines: readonly Line[]) => void;
}

/**
 * Shows the tool calls of the teammates, which run in other processes, as their conversations get them.
 * @param isNew whether the team is new: calls before the take-over of another team are not shown
 * @returns a function that shows the new calls
 */
export function followTeammates(ref: TeamRef, isNew: boolean, show: ShowFact): () => void {
  const followed = new Map<string, FollowedMember>();
  let isFirst = true;
  const open = (name: string, transcript: string): FollowedMember => {
    const from = isFirst && !isNew ? (fileSize(transcript) ?? 0) : 0;
    const feed = openLineFeed(transcript, parse, { from });
    return { transcript, feed, log: conversationLog(teammateView(name, show)) };
  };
  const showNew = ({ feed, log }: FollowedMember): void => log(feed.poll());
  return () => {
    const present = conversationsOf(ref);
    for (const [name, transcript] of present)
      if (followed.get(name)?.transcript !== transcript) followed.set(name, open(name, transcript));
    for (const [name, member] of followed) {
      // Also the last calls of a teammate that has left.
      showNew(member);
      if (!present.has(name)) followed.delete(name);
    }
    isFirst = false;
  };
}

/** Returns the files of the teammates' conversations, by name. */
function conversationsOf(ref: TeamRef): ReadonlyMap<string, string> {
  return new Map(
    readTeam(ref).members.flatMap(({ name }): [string, string][] => {
      const transcript = name === LEAD_NAME ? undefined : readStatus(ref, name)?.transcript;
      return transcript === undefined ? [] : [[name, transcript]];
    }),
  );
}

/** Shows the lead's earlier conversation, at most its newest entries. */
export function replayLead(transcript: string, show: ShowFact): void {
  const start = startOfLastLines(transcript, MAX_REPLAYED);
  const view = leadView(LEAD_NAME, show, {
    typed: (text) => show({ kind: "prompt", text }),
    event: () => undefined,
  });
  conversationLog(view)(readTextLines(transcript, start).texts.flatMap(parse));
}
