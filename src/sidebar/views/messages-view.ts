import { parseProtocol } from "../../protocol/messages.ts";
import { shownProse } from "../../protocol/render.ts";
import { TONE } from "../../text/style.ts";
import type { MessageLine, SidebarData } from "../data.ts";
import { clockTime, nameSpan } from "../message-rows.ts";
import { ends, span } from "../spans.ts";
import { type ReaderRow, row } from "./reader.ts";
import { textRows } from "./whole-view.ts";

/** Returns the messages from and to a member in full, oldest first. */
export function messagesDocument(
  messages: readonly MessageLine[],
  data: SidebarData,
  width: number,
): readonly ReaderRow[] {
  if (messages.length === 0) return [row([span("no messages yet", { fg: TONE.quiet })])];
  return messages.flatMap((message, i) => {
    const { from, to, text, at } = message;
    const protocol = parseProtocol(text);
    const names = [nameSpan(from, data), span(" → ", { fg: TONE.faint }), nameSpan(to, data)];
    return [
      ...(i === 0 ? [] : [row([])]),
      row(ends(names, [span(clockTime(at, data.now), { fg: TONE.faint })], width)),
      ...textRows(protocol === undefined ? text : shownProse(protocol), width - 2, {
        fg: protocol === undefined ? undefined : TONE.quiet,
      }).map(({ spans }) => row([span("  "), ...spans])),
    ];
  });
}

/** Returns the messages from one member to another, newest first. */
export function sentTexts(messages: readonly MessageLine[], from: string, to: string): readonly string[] {
  return messages
    .filter(
      (message) => message.from === from && message.to === to && parseProtocol(message.text) === undefined,
    )
    .map(({ text }) => text)
    .toReversed();
}
