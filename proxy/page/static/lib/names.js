/* What conversations are called.

   sessionName(card)   its first question, on one line; its id where that is not known, or may not be shown. `card`: of a
                       conversation, or a request of it
   sessionLink(card, props?)   a link to it, with its id as the title */

import { h } from "./dom.js";
import { href } from "./route.js";

export const sessionName = (card) => card.session_question || (card.session_question === undefined && card.question) || card.session;

export const sessionLink = (card, props = {}) =>
  h("a", { href: href("session", card.session, { scope: card.scope }), title: card.session, ...props }, sessionName(card));
