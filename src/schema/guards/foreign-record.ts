import { type ForeignRecord, foreignRecord } from "../status.ts";
import { type Form, isNumber, isText, looseObject, optional, plainObject } from "./guard.ts";
import { isIdentity } from "./identity.ts";
import { isServer } from "./records.ts";

export const foreignForm: Form<ForeignRecord> = {
  guard: looseObject<ForeignRecord>({
    joinedAt: isNumber,
    process: isIdentity,
    pane: optional(
      plainObject<NonNullable<ForeignRecord["pane"]>>({
        paneId: isText,
        server: isServer,
        panePid: isNumber,
        paneProcStart: isText,
      }),
    ),
    interruptedAt: optional(isNumber),
    version: optional(isText),
    provenAt: isNumber,
  }),
  schema: () => foreignRecord,
};
