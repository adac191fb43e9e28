// Puts the new codes into the page when the period ends, without moving anything
// else. Without scripts the page has a link to do the same.
(function () {
  'use strict';
  var timer;
  function renewIn(seconds) {
    clearTimeout(timer);
    timer = setTimeout(renew, Math.max(1, seconds) * 1000);
  }
  function wait() {
    renewIn(Number(document.getElementById('people').dataset.seconds));
  }
  function renew() {
    fetch('/people', { cache: 'no-store' }).then(function (answer) {
      return answer.ok ? answer.text() : Promise.reject(answer.status);
    }).then(function (text) {
      var fresh = new DOMParser().parseFromString(text, 'text/html').getElementById('people');
      document.getElementById('people').replaceWith(fresh);
      wait();
    }).catch(function () { renewIn(5); });
  }
  document.getElementById('again').hidden = true;
  wait();
  // Somebody who comes back to this tab wants the codes of now.
  document.addEventListener('visibilitychange', function () { if (!document.hidden) renew(); });
})();
