// A stand-in of Telegram for tests, on a free port of this machine: the package `telegram-test-api`. Prints its address.
// Its paths without a token are for the person: `/sendMessage`, `/sendCallback` and `/getUpdatesHistory`.
import TelegramServer from "telegram-test-api";

// Its own `start` takes no free port, and deletes messages after a minute.
const { webServer } = new TelegramServer();
const server = webServer.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
