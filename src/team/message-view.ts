import type { DeliveryState, InboxMessage } from "../schema/inbox.ts";
import { sameName, splitAddress } from "../schema/names.ts";

/** A message as a person sees it. */
export type MessageView = InboxMessage & {
  readonly id: string;
  readonly to: string;
  readonly state: DeliveryState;
};

export interface HistoryFilter {
  readonly unread?: boolean;
  readonly from?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  /** Also what has left the inbox, from the journal. */
  readonly all?: boolean;
}

export function fits(view: MessageView, { unread, from, since }: HistoryFilter): boolean {
  if (unread && view.read) return false;
  if (from !== undefined && !sameName(splitAddress(view.from).name, splitAddress(from).name)) return false;
  return since === undefined || timeOf(view) >= since;
}

/** Milliseconds since the epoch; 0 where it says no time. */
export function timeOf({ timestamp }: InboxMessage): number {
  return Date.parse(timestamp) || 0;
}
