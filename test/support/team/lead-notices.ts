import { LEAD_NAME } from "../../../src/schema/names.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Returns the texts of the system's notifications to the lead, read and unread. */
export async function leadNotices(ref: TeamRef): Promise<string[]> {
  return (await history(ref, LEAD_NAME, { all: true })).flatMap(({ from, text }) =>
    from === "system" ? [JSON.parse(text).message] : [],
  );
}
