import { entryOf } from "../../os/files/fs.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import type { TeamRef } from "../../team/ref.ts";

/** Describes the tmux servers of a team that run without their sockets. Loads the code for them only if a socket is missing. */
export async function socketProblems(
  ref: TeamRef,
  records: readonly { readonly place: PlaceRecord | undefined }[],
): Promise<readonly string[]> {
  const isAnyMissing = records.some(
    ({ place }) => place?.server !== undefined && entryOf(place.server.socket) === undefined,
  );
  if (!isAnyMissing) return [];
  const { lostSocketErrors } = await import("./lost-sockets.ts");
  return lostSocketErrors(ref).map(({ message, hint }) => `${message} ${hint}`);
}
